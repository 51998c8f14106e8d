package io.holdfast.metrics

import io.holdfast.table.{Footprint, Rows}
import io.holdfast.versions.{CommittedVersion, StartingVersion, StoreUsage}

/** What is known of a store after a batch, for its metrics.
  *
  * @param snapshots
  *   what was written beside the batches since a store was opened before
  * @param committed
  *   what the commit made, if there was one
  * @param rows
  *   those of the version that was made, or of the transaction
  * @param changes
  *   number of changed keys
  * @param versions
  *   number of versions in memory, with the one that was made
  * @param heldBytes
  *   heap bytes of those
  * @param cacheHits
  *   how often a version was found in memory, of all batches
  * @param cacheMisses
  *   how often one was loaded, of all batches
  * @param nearLimit
  *   whether the stores of this JVM are near their memory limit
  */
final private[metrics] case class BatchFacts(
    start: StartingVersion,
    usage: StoreUsage,
    snapshots: SnapshotWork,
    committed: Option[CommittedVersion],
    rows: Rows with Footprint,
    changes: Long,
    versions: Int,
    heldBytes: Long,
    cacheHits: Long,
    cacheMisses: Long,
    nearLimit: Boolean)
