package io.holdfast.snapshots

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.holdfast.FileChecksums

import io.holdfast.checkpoint.{StateFileListing, StateFiles, VersionId}
import io.holdfast.conf.StoreContext
import io.holdfast.file.StateFile

/** Deletes files that no promised version needs (`spark.sql.streaming.minBatchesToRetain`), and keeps
  * a second way to each: the snapshot that the oldest promised version is loaded from, the one before
  * it, and all deltas since. For one thread at a time, beside any tasks and [[SnapshotMaintenance]].
  */
final private[holdfast] class Cleanup(
    context: StoreContext,
    files: StateFiles,
    known: FolderKnowledge)
    extends Logging {
  private val conf = context.conf
  @volatile private var cleanedAt = Option.empty[VersionId]

  /** Deletes what is obsolete. Errors are logged: the next call tries again. */
  def run(): Unit = {
    val newest = known.newest
    val promised = newest.number - conf.minVersionsToRetain
    if (!cleanedAt.contains(newest)) {
      try {
        if (known.mayBeObsoleteBefore(promised)) {
          known.cleaningUp(promised)(files.list())(cleanUp(newest, _))
        }
        cleanedAt = Some(newest)
      } catch {
        case NonFatal(e) =>
          logWarning(
            s"Maintenance could not delete old files of $context; the next maintenance tries again",
            e)
      }
    }
  }

  private def cleanUp(newest: VersionId, listing: StateFileListing): Unit =
    for {
      latest <- listing.latestVersion
      // A query that its user has set back works with older versions than the newest file is of. An
      // executor that the store has left knows older ones too: it deletes less than the one that has
      // the store now. One of a run before may know newer ones than there are.
      head = if (newest.id.isEmpty) VersionId(newest.number min latest, None) else newest
      oldest <- listing.lineage(head).find(_.number == head.number - conf.minVersionsToRetain)
      if oldest.number > 0
      first <- listing.firstNeededWithSpare(oldest)
      if isThere(listing.snapshotsFor(oldest).find(_.number == first))
    } delete(listing, first)

  // A listing may come late, and show the snapshot of an attempt that has been replaced since.
  private def isThere(snapshot: Option[VersionId]): Boolean =
    snapshot.forall(files.exists(StateFile.Snapshot, _))

  private def delete(listing: StateFileListing, firstNeeded: Long): Unit = {
    val obsolete = listing.files.filter(_.version.number < firstNeeded)
    if (obsolete.nonEmpty) files.deleteAll(obsolete.map(_.path))
    if (listing.checksumFiles.nonEmpty) {
      FileChecksums.deleteOrphans(files.fileManager, listing.checksumFiles, firstNeeded, conf)
    }
    if (obsolete.nonEmpty) {
      logInfo(s"Deleted ${obsolete.size} files older than version $firstNeeded of $context")
    }
  }
}
