package io.holdfast.store

import io.holdfast.conf.StoreContext
import io.holdfast.rows.{RowCounts, RowReader}
import io.holdfast.versions.StartingVersion

/** A version for reading. It holds an immutable value, so there is nothing to release, and it stays
  * good for as long as somebody holds it. For one thread.
  */
final private[holdfast] class HoldfastReadStateStore(
    protected val context: StoreContext,
    val start: StartingVersion)
    extends RowAccess {
  // Goes on counting in the store that this one becomes.
  val counts = new RowCounts
  protected val reader = new RowReader(context.format, start.rows, counts)

  override def version: Long = start.id.number

  override def abort(): Unit = ()

  override def release(): Unit = ()

  override def toString: String = context.describe("HoldfastReadStateStore", Some(version))
}
