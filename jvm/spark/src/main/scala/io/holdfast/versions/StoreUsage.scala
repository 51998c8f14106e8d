package io.holdfast.versions

import io.holdfast.rows.RowCounts

/** What a writable store was opened with.
  *
  * @param forceSnapshot
  *   whether Spark wants a snapshot with the commit
  * @param replacesState
  *   whether the commit is all of the next version, whatever came before (`loadEmpty`)
  * @param counts
  *   what the task has asked for, from the store for reading on that this one was before
  */
final private[holdfast] case class StoreUsage(
    forceSnapshot: Boolean,
    replacesState: Boolean,
    counts: RowCounts)
