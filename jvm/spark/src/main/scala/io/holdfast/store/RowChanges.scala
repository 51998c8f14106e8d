package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.holdfast.checkpoint.VersionId

/** What a writable store does, whatever calls Spark has for it: those lie in `WriteCalls`, one for each
  * group of lines that agree. For one thread.
  */
private[holdfast] trait RowChanges extends StateStore with RowAccess {

  /** The version that the changes start from. */
  protected def base: VersionId

  /** The version that a commit makes. */
  protected def next: VersionId

  protected def putRow(key: UnsafeRow, value: UnsafeRow): Unit

  protected def removeRow(key: UnsafeRow): Unit

  /** @throws java.lang.IllegalStateException
    *   if the store was committed or aborted
    */
  protected def checkUpdating(operation: String): Unit
}
