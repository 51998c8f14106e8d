package io.holdfast

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals

import io.holdfast.file.StateFile
import io.holdfast.table.Version

/** Keeps recovery short and the folder small: writes snapshots of versions in memory and deletes
  * files that no promised version needs, by the rules of Spark's provider
  * (`HDFSBackedStateStoreProvider.doSnapshot` and `cleanup`, Spark 4.2).
  *
  * It works on immutable versions and needs no lock that a task waits for. A folder is listed only
  * after something has been committed. For one maintenance thread at a time, beside any tasks.
  */
private[holdfast] final class StoreMaintenance(
    context: StoreContext,
    files: StateFiles,
    inMemory: LoadedVersions,
    metrics: HoldfastMetrics)
    extends Logging {
  private val conf = context.conf
  @volatile private var snapshotCheckedAt = -1L
  @volatile private var cleanedAt = -1L

  /** Writes a snapshot of the newest version if more deltas than `minDeltasForSnapshot` lead to it.
    * Errors are logged: the next call tries again.
    */
  def snapshotIfDue(): Unit = inMemory.latest.foreach { case (number, version) =>
    if (number != snapshotCheckedAt) attempt("write a snapshot") {
      val listing = files.list()
      // A newer version in the folder means that another executor owns the store by now.
      if (listing.latestVersion.contains(number) && isDue(listing, number)) {
        writeSnapshot(number, version)
      }
      snapshotCheckedAt = number
    }
  }

  /** Writes a snapshot of a version.
    *
    * @throws java.io.IOException
    *   if it cannot be written; no file appears then
    */
  def writeSnapshot(number: Long, version: Version): Unit = {
    val start = System.nanoTime()
    val output = files.create(StateFile.Snapshot, number)
    try {
      output.records.putAll(version.cursor())
      output.finish()
    } catch {
      case e: Throwable =>
        output.cancel()
        throw e
    }
    val millis = (System.nanoTime() - start) / 1000000L
    metrics.snapshotWritten(number, millis)
    reportSnapshot(number)
    logInfo(s"Wrote ${files.snapshot(number)}, ${version.keyCount} rows, in $millis ms for $context")
  }

  /** Tells Spark's coordinator which snapshot a load would start from. */
  def reportSnapshot(number: Long): Unit =
    if (conf.reportSnapshotUploadLag) SparkInternals.reportSnapshot(context.providerId, number)

  /** Deletes files that only versions older than `minBatchesToRetain` need. Errors are logged. */
  def cleanUp(): Unit = {
    val newest = inMemory.latest.fold(0L)(_._1)
    if (newest != cleanedAt) attempt("clean up") {
      val listing = files.list()
      for {
        latest <- listing.latestVersion
        oldestPromised = latest - conf.minVersionsToRetain
        if oldestPromised > 0
        firstNeeded <- listing.chainStart(oldestPromised)
      } delete(listing, firstNeeded)
      cleanedAt = newest
    }
  }

  private def isDue(listing: StateFileListing, number: Long): Boolean =
    listing.chainStart(number).exists { start =>
      val deltas = listing.snapshots(number).headOption.fold(number)(number - _)
      start <= number && deltas > conf.minDeltasForSnapshot
    }

  private def delete(listing: StateFileListing, firstNeeded: Long): Unit = {
    val obsolete = listing.files.filter(_.version < firstNeeded)
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
