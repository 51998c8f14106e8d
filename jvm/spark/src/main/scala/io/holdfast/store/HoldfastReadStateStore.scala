package io.holdfast.store

import org.apache.spark.TaskContext

import io.holdfast.conf.StoreContext
import io.holdfast.memory.StoreMemory
import io.holdfast.rows.{RowCounts, RowReader}
import io.holdfast.versions.StartingVersion

/** A version for reading. It holds an immutable value, which stays good for as long as somebody holds
  * it, also after the store was released. For one thread.
  *
  * @param memory
  *   counts what walks hold until the store is released
  */
final private[holdfast] class HoldfastReadStateStore(
    protected val context: StoreContext,
    val start: StartingVersion,
    memory: StoreMemory)
    extends RowAccess {
  // Goes on counting in the store that this one becomes.
  val counts = new RowCounts
  private[this] val walks = memory.newUse()
  protected val reader = new RowReader(context.format, start.rows, counts, walks)

  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => release()))

  override def version: Long = start.id.number

  override def abort(): Unit = release()

  override def release(): Unit = walks.end()

  override def toString: String = context.describe("HoldfastReadStateStore", Some(version))
}
