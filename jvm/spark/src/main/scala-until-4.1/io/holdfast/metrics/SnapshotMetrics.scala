package io.holdfast.metrics

/** Spark's metrics of snapshots that were repaired or asked for, which it has not before 4.2. */
private[metrics] object SnapshotMetrics {
  val exist = false
}
