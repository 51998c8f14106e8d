package io.holdfast.table

/** What reads a table as it was at a moment, and says whether it still needs that. */
private[table] abstract class TableWalk extends AutoCloseable {
  private[this] var finished = false

  /** Whether nothing is read any more: it has come to its end or was closed. */
  final def isFinished: Boolean = finished

  final override def close(): Unit =
    if (!finished) {
      finished = true
      finish()
    }

  /** Lets go of what it holds; nothing is read afterwards. Called once. */
  protected def finish(): Unit
}
