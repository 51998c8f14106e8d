package io.holdfast.snapshots

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals

import io.holdfast.checkpoint.{StateFileListing, StateFiles, VersionId}
import io.holdfast.conf.StoreContext
import io.holdfast.file.StateFile
import io.holdfast.metrics.HoldfastMetrics
import io.holdfast.table.Version
import io.holdfast.versions.VersionsInMemory

/** Keeps recovery short and the folder small: writes snapshots of versions in memory and deletes
  * files that no promised version needs, by the rules of Spark's provider
  * (`HDFSBackedStateStoreProvider.doSnapshot` and `cleanup`, Spark 4.2).
  *
  * It works on immutable versions and holds no lock while it works on files. A folder is listed only
  * when a snapshot may be due or a file obsolete ([[FolderKnowledge]]). For one maintenance thread at a
  * time, beside any tasks.
  *
  * @param commitLock
  *   held while a commit publishes its version
  */
private[holdfast] final class StoreMaintenance(
    context: StoreContext,
    files: StateFiles,
    inMemory: VersionsInMemory,
    metrics: HoldfastMetrics,
    commitLock: AnyRef)
    extends Logging {
  private val conf = context.conf
  private val policy = SnapshotPolicy(conf)
  @volatile private var current = VersionId(0L, None)
  @volatile private var lastSnapshot = VersionId(0L, None)
  @volatile private var snapshotCheckedAt = VersionId(0L, None)
  @volatile private var cleanedAt = VersionId(0L, None)
  private val known = new FolderKnowledge

  /** Says which version tasks work with: the last one committed or loaded. */
  def used(version: VersionId): Unit = current = version

  /** Says that the delta of a version was written, of so many bytes. */
  def wroteDelta(version: VersionId, bytes: Long): Unit = known.delta(version, bytes)

  /** Whether the last snapshot that this provider wrote is of this attempt at this version. */
  def hasSnapshot(version: VersionId): Boolean = lastSnapshot == version

  /** Writes a snapshot of the newest version if [[SnapshotPolicy]] says so. Errors are logged: the
    * next call tries again.
    */
  def snapshotIfDue(): Unit = inMemory.latest.foreach { case (id, version) =>
    if (id != snapshotCheckedAt) attempt("write a snapshot") {
      if (known.chainTo(id).forall(policy.isDue)) {
        val listing = files.list()
        val chain = listing.chain(id).map(_.size)
        chain.foreach(known.chain(id, _))
        // A newer version in the folder means that another executor owns the store by now.
        if (listing.latestVersion.contains(id.number) && chain.exists(policy.isDue)) {
          writeBesideTasks(id, version)
        }
      }
      snapshotCheckedAt = id
    }
  }

  // A batch that is done once more meanwhile puts another version in the place of this one. It
  // writes the snapshot anew if it finds it written, and leaves that to this thread otherwise.
  @tailrec
  private def writeBesideTasks(id: VersionId, version: Version): Unit = {
    writeSnapshot(id, version)
    commitLock.synchronized(inMemory.get(id)) match {
      case Some(other) if other ne version => writeBesideTasks(id, other)
      case _ =>
    }
  }

  /** Writes a snapshot of a version.
    *
    * @throws java.io.IOException
    *   if it cannot be written; no file appears then
    */
  def writeSnapshot(id: VersionId, version: Version): Unit = {
    val start = System.nanoTime()
    val output = files.create(StateFile.Snapshot, id)
    try {
      output.records.putAll(version.cursor())
      output.finish()
    } catch {
      case e: Throwable =>
        output.cancel()
        throw e
    }
    val millis = (System.nanoTime() - start) / 1000000L
    lastSnapshot = id
    known.snapshot(id, output.fileBytes)
    metrics.snapshotWritten(id.number, millis, output.fileBytes)
    reportSnapshot(id.number)
    logInfo(
      s"Wrote ${files.path(StateFile.Snapshot, id)}, ${version.keyCount} rows, in $millis ms for " +
        s"$context")
  }

  /** Tells Spark's coordinator which snapshot a load would start from. */
  def reportSnapshot(number: Long): Unit =
    if (conf.reportSnapshotUploadLag) SparkInternals.reportSnapshot(context.providerId, number)

  /** Deletes files that only versions older than `minBatchesToRetain` need. Errors are logged. */
  def cleanUp(): Unit = {
    val newest = current
    val promised = newest.number - conf.minVersionsToRetain
    if (newest != cleanedAt) attempt("clean up") {
      if (known.mayBeObsoleteBefore(promised)) {
        val listing = files.list()
        known.snapshots(listing, promised)
        cleanUp(newest, listing)
      }
      cleanedAt = newest
    }
  }

  private def cleanUp(newest: VersionId, listing: StateFileListing): Unit =
    for {
      latest <- listing.latestVersion
      // Without ids the newest file is of the newest version, whoever wrote it.
      head = if (newest.id.isEmpty) VersionId(latest, None) else newest
      oldest <- listing.lineage(head).find(_.number == head.number - conf.minVersionsToRetain)
      if oldest.number > 0
      chain <- listing.chain(oldest)
    } delete(listing, chain.firstNeeded)

  private def delete(listing: StateFileListing, firstNeeded: Long): Unit = {
    val obsolete = listing.files.filter(_.version.number < firstNeeded)
    obsolete.foreach(file => files.delete(file.path))
    if (listing.checksumFiles.nonEmpty) {
      SparkInternals.deleteOrphanChecksumFiles(
        files.fileManager,
        listing.checksumFiles,
        firstNeeded,
        conf.checkpointFileChecksumEnabled)
    }
    if (obsolete.nonEmpty) {
      logInfo(s"Deleted ${obsolete.size} files older than version $firstNeeded of $context")
    }
  }

  private def attempt(what: String)(body: => Unit): Unit =
    try body
    catch {
      case NonFatal(e) => logWarning(s"Maintenance could not $what for $context; it will retry", e)
    }
}
