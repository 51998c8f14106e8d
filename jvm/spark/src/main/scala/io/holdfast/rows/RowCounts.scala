package io.holdfast.rows

import io.holdfast.table.EvictionCursor

/** How often a task has asked for rows and changed them. For one thread. */
final private[holdfast] class RowCounts {
  var gets = 0L
  var puts = 0L
  var removes = 0L

  /** Walks over all rows. */
  var iterations = 0L

  /** Walks over a prefix or a range. */
  var scans = 0L

  /** Rows that walks over all rows have shown. */
  var walked = 0L

  private[this] var evictions = List.empty[EvictionCursor]

  /** Counts a walk that was asked for all rows and shows those that may have expired. */
  def eviction(cursor: EvictionCursor): Unit = evictions = cursor :: evictions

  /** Walks that looked for expired rows only where there may be some. */
  def hinted: Long = evictions.size.toLong

  /** Rows that were looked at by walks over all rows and by those in their place. */
  def lookedAt: Long = walked + evictions.map(_.rowsLookedAt).sum
}
