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
