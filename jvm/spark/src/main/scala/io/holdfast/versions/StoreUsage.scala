package io.holdfast.versions

/** What a writable store was opened with.
  *
  * @param forceSnapshot
  *   whether Spark wants a snapshot with the commit
  * @param replacesState
  *   whether the commit is all of the next version, whatever came before (`loadEmpty`)
  */
final private[holdfast] case class StoreUsage(forceSnapshot: Boolean, replacesState: Boolean)
