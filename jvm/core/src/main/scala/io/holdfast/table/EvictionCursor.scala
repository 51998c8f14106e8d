package io.holdfast.table

/** A walk over the rows that may have expired: all whose time is at or before a threshold, and perhaps
  * others. See [[Rows.cursorUpTo]]. What it counts is for metrics, and complete when the walk is at its end.
  */
trait EvictionCursor extends RowCursor {

  /** Rows that were read, those that were not shown among them. */
  def rowsLookedAt: Long

  /** Pages that were read. */
  def pagesLookedAt: Int

  /** Pages that were passed over, because nothing in them has expired. */
  def pagesSkipped: Int
}
