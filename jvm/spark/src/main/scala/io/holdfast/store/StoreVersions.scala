package io.holdfast.store

import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals

import io.holdfast.checkpoint.{StateFileOutput, StateFiles, VersionId}
import io.holdfast.conf.StoreContext
import io.holdfast.file.StateFile
import io.holdfast.memory.StoreMemory
import io.holdfast.metrics.HoldfastMetrics
import io.holdfast.snapshots.StoreMaintenance
import io.holdfast.table.{Transaction, Version}
import io.holdfast.versions.{
  CommitTimes,
  CommittedVersion,
  StartingVersion,
  StoreUsage,
  VersionLoader,
  VersionsInMemory
}

/** The versions of one store: opens them, from memory or from files, and makes a transaction the next
  * one.
  *
  * Any thread may call. Opening a version that is in memory waits for nobody; two calls that want the
  * same missing version load it once.
  */
final private[holdfast] class StoreVersions(
    context: StoreContext,
    files: StateFiles,
    inMemory: VersionsInMemory,
    loader: VersionLoader,
    maintenance: StoreMaintenance,
    memory: StoreMemory,
    metrics: HoldfastMetrics,
    failures: StoreFailures,
    commitLock: AnyRef)
    extends Logging {

  // Two tasks that want the same version load it once.
  private[this] val loadLock = new Object

  /** Makes a transaction durable as a version and then visible as that version.
    *
    * @throws java.io.IOException
    *   if the file system fails; then nothing has changed
    */
  def commit(id: VersionId, transaction: Transaction, usage: StoreUsage): CommittedVersion =
    if (usage.replacesState) commitWhole(id, transaction)
    else commitChanges(id, transaction, usage.forceSnapshot)

  // A delta says what is new beside the version before, and there is no such version.
  private[this] def commitWhole(id: VersionId, transaction: Transaction): CommittedVersion = {
    val begun = System.nanoTime()
    val version = transaction.commit()
    val made = System.nanoTime()
    commitLock.synchronized {
      maintenance.writeSnapshot(id, version)
      keep(id, version)
    }
    val times = CommitTimes(0L, 0L, made - begun, System.nanoTime() - made)
    CommittedVersion(
      id,
      version,
      times,
      deltaRecords = 0L,
      deltaBytes = 0L,
      transaction.relocatedBytes,
      transaction.compactionNanos)
  }

  private[this] def commitChanges(
      id: VersionId,
      transaction: Transaction,
      forceSnapshot: Boolean): CommittedVersion = {
    val begun = System.nanoTime()
    val output = files.create(StateFile.Delta, id)
    try {
      transaction.foreachChange(output.records)
      val written = System.nanoTime()
      commitLock.synchronized {
        output.finish()
        val times = CommitTimes(written - begun, System.nanoTime() - written, 0L, 0L)
        publish(id, transaction, output, forceSnapshot, times)
      }
    } catch {
      case e: Throwable =>
        output.cancel()
        throw e
    }
  }

  private[this] def publish(
      id: VersionId,
      transaction: Transaction,
      output: StateFileOutput,
      forceSnapshot: Boolean,
      untilFinished: CommitTimes): CommittedVersion = {
    val finished = System.nanoTime()
    val version = transaction.commit()
    val made = System.nanoTime()
    maintenance.wroteDelta(id, output.fileBytes)
    // A snapshot that this provider wrote of an earlier attempt at the version is out of date.
    if (forceSnapshot || maintenance.hasSnapshot(id)) {
      maintenance.writeSnapshot(id, version)
    }
    keep(id, version)
    CommittedVersion(
      id,
      version,
      untilFinished.copy(version = made - finished, snapshot = System.nanoTime() - made),
      output.records.records,
      output.fileBytes,
      transaction.relocatedBytes,
      transaction.compactionNanos)
  }

  private[this] def keep(id: VersionId, version: Version): Unit = {
    inMemory.put(id, version)
    memory.versionsUse(metrics.memoryUsedBytes)
    maintenance.used(id)
  }

  /** What a store starts from that replaces all state after a version. */
  def nothing(version: Long): StartingVersion =
    StartingVersion.inMemory(VersionId(version, None), context.empty, System.nanoTime())

  /** Opens a version.
    *
    * @throws org.apache.spark.SparkException
    *   of class CANNOT_LOAD_STATE_STORE if it cannot be rebuilt from the files
    */
  def open(id: VersionId): StartingVersion = {
    val start = System.nanoTime()
    if (id.number < 0) throw SparkInternals.unexpectedVersion(id.number)
    else if (id.number == 0) StartingVersion.inMemory(id, context.empty, start)
    else fromMemory(id, start).getOrElse(load(id, start))
  }

  private[this] def fromMemory(id: VersionId, start: Long): Option[StartingVersion] =
    inMemory.get(id).map { rows =>
      metrics.hit()
      StartingVersion.inMemory(id, rows, start)
    }

  private[this] def load(id: VersionId, start: Long): StartingVersion = loadLock.synchronized {
    fromMemory(id, start).getOrElse {
      metrics.miss()
      val loaded = loading(id)(loader.load(id))
      keep(id, loaded.version)
      maintenance.reportSnapshot(loaded.snapshot)
      val opened = StartingVersion.fromFiles(id, loaded, start)
      logInfo(
        s"Loaded version $id of $context from version ${loaded.snapshot} and " +
          s"${loaded.replayedFiles} deltas in ${opened.openNanos / 1000000L} ms")
      opened
    }
  }

  /** Rebuilds a version from exactly this snapshot. It is not kept. */
  def replayed(snapshot: VersionId, end: VersionId): StartingVersion = {
    val start = System.nanoTime()
    if (snapshot.number < 1) throw SparkInternals.unexpectedVersion(snapshot.number)
    if (end.number < snapshot.number) throw SparkInternals.unexpectedVersion(end.number)
    StartingVersion.fromFiles(end, loading(end)(loader.loadFrom(snapshot, end)), start)
  }

  private[this] def loading[A](id: VersionId)(load: => A): A =
    try load
    catch { case e: Throwable => throw failures.cannotLoad(id, e) }
}
