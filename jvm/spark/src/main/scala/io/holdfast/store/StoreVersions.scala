package io.holdfast.store

import javax.annotation.concurrent.GuardedBy

import scala.annotation.tailrec

import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.holdfast.StateErrors

import io.holdfast.checkpoint.{KnownDelta, StateFileOutput, StateFiles, VersionId}
import io.holdfast.conf.StoreContext
import io.holdfast.file.{Closing, StateFile}
import io.holdfast.metrics.HoldfastMetrics
import io.holdfast.snapshots.{
  Attempt,
  FolderKnowledge,
  ReportedSnapshots,
  RequestedSnapshots,
  SnapshotRace,
  SnapshotWriter
}
import io.holdfast.surroundings.{Beside, Clock}
import io.holdfast.table.{EventTime, Transaction, Version}
import io.holdfast.versions.{
  CommitTimes,
  CommittedVersion,
  RebuiltVersion,
  StartingVersion,
  StoreUsage,
  VersionLoader,
  VersionsInMemory,
  VersionsInUse
}

/** The versions of one store: opens them, from memory or from files, and makes a transaction the next
  * one.
  *
  * Any thread may call. Opening a version that is in memory waits for nobody; two calls that want a
  * missing version load it once.
  *
  * @param commitLock
  *   held while a delta appears and its version is published, so that of two attempts at a version the
  *   same one wins in the folder and in memory
  */
final private[holdfast] class StoreVersions(
    context: StoreContext,
    files: StateFiles,
    inMemory: VersionsInMemory,
    loader: VersionLoader,
    known: FolderKnowledge,
    race: SnapshotRace,
    writer: SnapshotWriter,
    requested: RequestedSnapshots,
    reported: ReportedSnapshots,
    inUse: VersionsInUse,
    metrics: HoldfastMetrics,
    failures: StoreFailures,
    beside: Beside,
    clock: Clock,
    commitLock: AnyRef)
    extends Logging {
  import StoreVersions._

  // Two tasks that want the same version load it once.
  private[holdfast] val loadLock = new Object

  // The version that is being loaded, until an attempt at it appears meanwhile.
  @GuardedBy("commitLock") private[this] var loadingNow = Option.empty[VersionId]

  private[this] val others = new SnapshotsOfOthers(files, race, commitLock)

  /** Makes a transaction durable as a version and then visible as that version.
    *
    * What can fail in the engine comes before the file appears, so a failure leaves folder and memory
    * as they were. Where the file system fails when the file should appear, nobody knows whether it
    * did: then the version is read from the folder when it is opened next.
    *
    * @param early
    *   the delta, which may have been begun
    * @throws java.io.IOException
    *   if the file system fails
    */
  def commit(
      id: VersionId,
      transaction: Transaction,
      usage: StoreUsage,
      early: Option[EarlyDelta] = None): CommittedVersion = {
    others.lookAtFolder(id)
    if (usage.replacesState) commitWhole(id, transaction)
    else commitChanges(id, transaction, usage.forceSnapshot, early)
  }

  // A delta says what is new beside the version before, and there is no such version. That of a run
  // before, of a query that was set back, goes: who cannot read the snapshot would take it.
  private[this] def commitWhole(id: VersionId, transaction: Transaction): CommittedVersion = {
    val begun = clock.nanos
    val version = transaction.commit()
    val made = clock.nanos
    commitLock.synchronized {
      val _ = requested.replaced(id)
      appear(id) {
        writer.writeInCommit(id, version)
        if (id.id.isEmpty) files.delete(files.path(StateFile.Delta, id))
      }
      if (isToCount(id)) publish(id, version, delta = None)
    }
    val times = CommitTimes(0L, 0L, made - begun, clock.nanos - made)
    committed(id, version, transaction, times, records = 0L, bytes = 0L)
  }

  private[this] def commitChanges(
      id: VersionId,
      transaction: Transaction,
      forceSnapshot: Boolean,
      early: Option[EarlyDelta]): CommittedVersion = {
    val begun = clock.nanos
    val changes = transaction.changes()
    val written = early.flatMap(_.take())
    val output = written.fold(files.create(StateFile.Delta, id))(_.output)
    try {
      val (version, making) = written match {
        case Some(delta) => delta.endWith(changes)(made(transaction))
        case None =>
          beside.both(changes.bytes)(() => output.records.write(changes))(made(transaction))
      }
      val isMade = clock.nanos
      val durable = finish(id, version, output, forceSnapshot)
      val times =
        CommitTimes(isMade - begun - making, durable - isMade, making, clock.nanos - durable)
      committed(id, version, transaction, times, output.records.records, output.fileBytes)
    } catch {
      case e: Throwable =>
        output.cancel()
        throw e
    }
  }

  // The version, and how many nanoseconds it took.
  private[this] def made(transaction: Transaction): (Version, Long) = {
    val start = clock.nanos
    val version = transaction.commit()
    (version, clock.nanos - start)
  }

  // The moment from which the delta lies in the checkpoint.
  private[this] def finish(
      id: VersionId,
      version: Version,
      output: StateFileOutput,
      forceSnapshot: Boolean): Long =
    commitLock.synchronized {
      others.look(id)
      val hadSnapshot = race.replaced(id)
      val hadRequest = requested.replaced(id)
      appear(id) {
        if (others.isToBeOverwritten(id)) writer.writeInCommit(id, version)
        // A delta that was begun early was begun before the folder was listed.
        files.deleteLeftChecksums(StateFile.Delta, id)
        output.finish()
      }
      val durable = clock.nanos
      if (isToCount(id)) {
        known.delta(id, output.fileBytes)
        publish(id, version, Some(output.written))
        requested.committed(
          new Attempt(id, version, output.written),
          forceSnapshot,
          again = hadSnapshot || hadRequest)
      }
      durable
    }

  // Where attempts have ids, and a batch computes a partition twice, as a `foreachBatch` that uses its
  // frame twice does, the next batch goes on from the first: the commit log takes the first id that it
  // is given (`StateStoreWriter.getStateStoreCheckpointInfo`, Spark 4.0 on). Of a task that is tried
  // again it is given the id of that attempt alone. If it is another one after all, it is loaded.
  private[this] def isToCount(id: VersionId): Boolean =
    id.id.isEmpty || SnapshotsOfOthers.isTriedAgain || !inMemory.hasAnother(id)

  // A file may have appeared though its answer was lost. The folder says then which attempt counts.
  private[this] def appear(id: VersionId)(file: => Unit): Unit =
    try file
    catch {
      case e: Throwable =>
        // The end of a use of what is not in memory counts anew.
        inMemory.remove(id).foreach(gone => inUse.use(gone).close())
        known.unsure()
        disturbLoad(id)
        throw e
    }

  // For who holds the commit lock, like what it calls.
  private[this] def publish(id: VersionId, version: Version, delta: Option[KnownDelta]): Unit = {
    disturbLoad(id)
    keep(id, version, delta)
  }

  private[this] def disturbLoad(id: VersionId): Unit =
    if (loadingNow.contains(id)) loadingNow = None

  private[this] def keep(id: VersionId, version: Version, delta: Option[KnownDelta]): Unit = {
    inMemory.put(id, version, delta)
    inUse.published(version)
    known.used(id)
  }

  private[this] def committed(
      id: VersionId,
      version: Version,
      transaction: Transaction,
      times: CommitTimes,
      records: Long,
      bytes: Long): CommittedVersion =
    CommittedVersion(
      id,
      version,
      times,
      records,
      bytes,
      transaction.relocatedBytes,
      transaction.compactionNanos)

  /** What a store starts from that replaces all state after a version. */
  def nothing(version: Long): StartingVersion =
    StartingVersion(VersionId(version, None), context.empty, openNanos = 0L, loaded = None)

  /** Opens a version.
    *
    * @param eventTime
    *   where the time of its rows lies, if that is known; a version that is loaded knows it from then on
    * @throws org.apache.spark.SparkException
    *   of class CANNOT_LOAD_STATE_STORE if it cannot be rebuilt from the files
    */
  def open(id: VersionId, eventTime: => Option[EventTime] = None): StartingVersion = {
    val start = clock.nanos
    if (id.number < 0) throw StateErrors.unexpectedVersion(id.number)
    else if (id.number == 0) opened(id, context.empty, start)
    else fromMemory(id, start).getOrElse(load(id, start, eventTime))
  }

  private[this] def fromMemory(id: VersionId, start: Long): Option[StartingVersion] =
    inMemory.get(id).map { rows =>
      metrics.hit()
      opened(id, rows, start)
    }

  private[this] def load(
      id: VersionId,
      start: Long,
      eventTime: Option[EventTime]): StartingVersion = loadLock.synchronized {
    fromMemory(id, start).getOrElse {
      metrics.miss()
      val loaded = loadNewest(id, eventTime)
      reported.report(loaded.snapshot)
      val rows = commitLock.synchronized(inMemory.get(id)).getOrElse(loaded.version)
      val made = StartingVersion(id, rows, clock.nanos - start, Some(loaded))
      tellLoad(made, loaded)
      made
    }
  }

  // An attempt that is published while the version is being loaded is what counts: in memory, if it
  // is still there, or in the files.
  @tailrec
  private[this] def loadNewest(id: VersionId, eventTime: Option[EventTime]): RebuiltVersion = {
    commitLock.synchronized {
      loadingNow = Some(id)
    }
    val loaded = loading(id)(loader.load(id, eventTime))
    val isNewest = commitLock.synchronized {
      val undisturbed = loadingNow.contains(id)
      loadingNow = None
      others.saw(loaded.newestListed)
      if (undisturbed) keep(id, loaded.version, loaded.delta)
      undisturbed || inMemory.get(id).isDefined
    }
    if (isNewest) loaded else loadNewest(id, eventTime)
  }

  private[this] def tellLoad(made: StartingVersion, loaded: RebuiltVersion): Unit = {
    val millis = made.openNanos / 1000000L
    val sentence =
      s"Loaded version ${made.id} of $context: ms=$millis rows=${context.keyCount(made.rows)} " +
        s"snapshot=${loaded.snapshot} deltas=${loaded.replayedFiles} bytes=${loaded.bytes}"
    if (millis < SlowLoadMillis) logInfo(sentence)
    else {
      logWarning(
        s"$sentence. The batch waited for it: if it is mostly deltas, give maintenance more often a " +
          "chance to write snapshots (spark.sql.streaming.stateStore.maintenanceInterval); if it is " +
          "mostly snapshot, use more partitions")
    }
  }

  /** Rebuilds a version from exactly this snapshot. It is not kept. */
  def replayed(snapshot: VersionId, end: VersionId): StartingVersion = {
    val start = clock.nanos
    if (snapshot.number < 1) throw StateErrors.unexpectedVersion(snapshot.number)
    if (end.number < snapshot.number) throw StateErrors.unexpectedVersion(end.number)
    val loaded = loading(end)(loader.loadFrom(snapshot, end))
    StartingVersion(end, loaded.version, clock.nanos - start, Some(loaded))
  }

  private[this] def opened(id: VersionId, rows: Version, start: Long): StartingVersion =
    StartingVersion(id, rows, clock.nanos - start, loaded = None)

  private[this] def loading[A](id: VersionId)(load: => A): A =
    try Closing.after(files.use())(_ => load)
    catch { case e: Throwable => throw failures.cannotLoad(id, e) }
}

private object StoreVersions {
  // A batch that takes so much longer than others is asked about.
  private val SlowLoadMillis = 10000L
}
