package io.holdfast.metrics

/** Spark's metrics of snapshots that were repaired, and of those that its coordinator asked for. */
private[metrics] object SnapshotMetrics {
  val exist = true
}
