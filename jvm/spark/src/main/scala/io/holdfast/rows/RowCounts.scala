package io.holdfast.rows

/** How often a task has asked for rows and changed them. For one thread. */
final private[holdfast] class RowCounts {
  var gets = 0L
  var puts = 0L
  var removes = 0L

  /** Walks over all rows. */
  var iterations = 0L

  /** Walks over a prefix or a range. */
  var scans = 0L
}
