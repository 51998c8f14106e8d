package io.holdfast.snapshots

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging

import io.holdfast.checkpoint.{StateFiles, VersionId}
import io.holdfast.conf.StoreContext
import io.holdfast.table.Version
import io.holdfast.versions.VersionsInMemory

/** Writes snapshots on a timer, Spark's maintenance: of the newest version, when [[SnapshotPolicy]]
  * says so. For one thread at a time, beside any tasks and [[Cleanup]].
  */
final private[holdfast] class SnapshotMaintenance(
    context: StoreContext,
    files: StateFiles,
    inMemory: VersionsInMemory,
    known: FolderKnowledge,
    requested: RequestedSnapshots,
    writer: SnapshotWriter,
    policy: SnapshotPolicy)
    extends Logging {
  @volatile private var checkedAt = Option.empty[VersionId]

  /** Writes a snapshot if one is due. Errors are logged: the next call tries again. */
  def run(): Unit =
    try {
      requested.writeWaiting()
      inMemory.latest.foreach { case (id, version) =>
        if (!checkedAt.contains(id)) {
          if (!mayBeDue(id) || isDone(id, version)) checkedAt = Some(id)
        }
      }
    } catch {
      case NonFatal(e) =>
        logWarning(
          s"Maintenance could not write a snapshot of $context. Its files stay as they are; the next " +
            "maintenance tries again",
          e)
    }

  private def mayBeDue(id: VersionId): Boolean =
    requested.isSoonLate(id) || known.chainTo(id).forall(policy.isDue)

  // Writes a snapshot if one is due; whether there is nothing left to do for the version.
  private def isDone(id: VersionId, version: Version): Boolean = {
    val listing = files.list()
    val chain = listing.chain(id).map(_.size)
    chain.foreach(known.chain(id, _))
    val due =
      chain.exists(size => policy.isDue(size) || requested.isSoonLate(id) && size.deltas > 0) ||
        // Of an attempt in another executor, of which this one has not heard: it is replaced.
        listing.hasOlderSnapshot(id)
    // An attempt at the version that commits while the folder is listed is another one.
    def chosen = inMemory.delta(version).map(new Attempt(id, version, _))
    !due || !listing.latestVersion.contains(id.number) ||
    writer.writeBesideTasks(chosen)(Some(listing))
  }
}
