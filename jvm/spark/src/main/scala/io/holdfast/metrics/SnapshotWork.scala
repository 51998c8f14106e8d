package io.holdfast.metrics

/** Snapshots that were written: the time it took, in milliseconds, and the size of the files. */
final private[holdfast] case class SnapshotWork(millis: Long, bytes: Long)
