package io.holdfast.checkpoint

import javax.annotation.concurrent.GuardedBy

/** Keeps the managers of a folder open as long as somebody uses them.
  *
  * Spark closes a provider also while a task is in it: when the store was asked for in another executor,
  * when maintenance fails, and, by the maintenance of another query, where
  * `spark.sql.streaming.stateStore.unloadOnCommit` is set (`StateStore`, Spark 4.3). The manager of file
  * checksums writes nothing any more when it is closed, so the attempt would fail. It goes on here, as it
  * does without checksums. Any thread may call.
  */
final private[checkpoint] class FolderManagersInUse(make: () => FolderManagers) {
  @volatile private var current = make()
  @GuardedBy("this") private var users = 0
  @GuardedBy("this") private var ended = false
  @GuardedBy("this") private var open = true

  /** The managers, which may be closed for who does not use them. */
  def now: FolderManagers = current

  /** Keeps the managers open until the use is closed; after [[close]] they are made anew. */
  def use(): AutoCloseable = synchronized {
    if (!open) {
      current = make()
      open = true
    }
    users += 1
    new Use
  }

  /** Closes the managers when nobody uses them any more. Idempotent. */
  def close(): Unit = synchronized {
    ended = true
    closeIfUnused()
  }

  @GuardedBy("this")
  private def closeIfUnused(): Unit =
    if (ended && open && users == 0) {
      open = false
      current.close()
    }

  final private class Use extends AutoCloseable {
    @GuardedBy("FolderManagersInUse.this") private var ends = false

    override def close(): Unit = FolderManagersInUse.this.synchronized {
      if (!ends) {
        ends = true
        users -= 1
        closeIfUnused()
      }
    }
  }
}
