package io.holdfast.versions

import io.holdfast.checkpoint.KnownDelta
import io.holdfast.table.Version

/** A version that was rebuilt from files.
  *
  * @param snapshot
  *   the version it was begun from
  * @param replayedFiles
  *   number of deltas applied to that
  * @param bytes
  *   size of these files
  * @param repaired
  *   whether an unreadable newer snapshot was passed over
  * @param delta
  *   the delta of the version itself, if there is one
  * @param newestListed
  *   the largest number of a version of which there is a file in the folder, at least its own
  */
final private[holdfast] case class RebuiltVersion(
    version: Version,
    snapshot: Long,
    replayedFiles: Long,
    bytes: Long,
    repaired: Boolean,
    delta: Option[KnownDelta],
    newestListed: Long)
