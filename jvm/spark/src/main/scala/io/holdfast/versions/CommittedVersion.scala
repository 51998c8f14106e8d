package io.holdfast.versions

import io.holdfast.checkpoint.VersionId
import io.holdfast.table.Version

/** What a commit made.
  *
  * @param deltaBytes
  *   size of the delta file
  * @param relocatedBytes
  *   rows that were moved out of sparse pages
  * @param compactionNanos
  *   time spent on that
  */
final private[holdfast] case class CommittedVersion(
    id: VersionId,
    version: Version,
    times: CommitTimes,
    deltaRecords: Long,
    deltaBytes: Long,
    relocatedBytes: Long,
    compactionNanos: Long)
