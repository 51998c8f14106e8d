package io.holdfast.table

/** A cursor that says whether it still needs what it walks over. */
private[table] abstract class TableCursor extends RowCursor {
  private[this] var finished = false

  /** Whether the walk has come to its end or was closed. */
  final def isFinished: Boolean = finished

  final override def close(): Unit =
    if (!finished) {
      finished = true
      finish()
    }

  /** Lets go of what the walk holds; it shows no row afterwards. Called once. */
  protected def finish(): Unit
}
