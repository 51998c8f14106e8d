package io.holdfast.store

import org.apache.spark.TaskContext

import io.holdfast.conf.StoreContext
import io.holdfast.memory.StoreMemory
import io.holdfast.rows.{RowCounts, RowReader}
import io.holdfast.versions.StartingVersion

/** A version for reading. It holds an immutable value, which stays good for as long as somebody holds
  * it, also after the store was released. For one thread.
  *
  * @param store
  *   counts the version, and what walks hold, until this is released
  */
private[holdfast] class HoldfastReadStateStore(val start: StartingVersion, store: StoreParts)
    extends ReadCalls {
  protected val context: StoreContext = store.context
  // Goes on counting in the store that this one becomes.
  val counts = new RowCounts
  final protected val walks: StoreMemory#Use = store.memory.newUse()
  protected val reader = new RowReader(context.format, start.rows, counts, walks)
  // Last of all that may fail: nobody would end it.
  private[this] val use = store.inUse.use(start.rows)

  private[this] val task = TaskContext.get()
  if (task != null) task.addTaskCompletionListener[Unit](_ => release())

  override def version: Long = start.id.number

  override def abort(): Unit = release()

  // Spark has it from 4.1 on.
  def release(): Unit = {
    walks.end()
    use.close()
  }

  override def toString: String = context.describe("HoldfastReadStateStore", Some(version))
}
