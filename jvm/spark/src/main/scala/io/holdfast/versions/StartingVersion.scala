package io.holdfast.versions

import io.holdfast.checkpoint.VersionId
import io.holdfast.table.Version

/** A version that is open, and how it came to be.
  *
  * @param openNanos
  *   time from Spark's call until it was open, loading included
  * @param loaded
  *   what was loaded from files, if it was not in memory
  */
final private[holdfast] case class StartingVersion(
    id: VersionId,
    rows: Version,
    openNanos: Long,
    loaded: Option[RebuiltVersion])

private[holdfast] object StartingVersion {
  def inMemory(id: VersionId, rows: Version, startNanos: Long): StartingVersion =
    StartingVersion(id, rows, System.nanoTime() - startNanos, None)

  def fromFiles(id: VersionId, loaded: RebuiltVersion, startNanos: Long): StartingVersion =
    StartingVersion(id, loaded.version, System.nanoTime() - startNanos, Some(loaded))
}
