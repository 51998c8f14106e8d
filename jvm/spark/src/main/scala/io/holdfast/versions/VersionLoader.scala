package io.holdfast.versions

import java.io.{FileNotFoundException, InputStream}
import java.util.concurrent.Executor
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.holdfast.StateErrors
import org.apache.spark.unsafe.Platform

import io.holdfast.checkpoint.{KnownDelta, ReadAhead, StateFileListing, StateFiles, VersionId}
import io.holdfast.conf.StoreContext
import io.holdfast.file.{
  Closing,
  FamilyReplay,
  InvalidKeyLengthException,
  InvalidValueLengthException,
  Replay,
  RowChecksumException,
  StateFile,
  StateFileException
}
import io.holdfast.memory.StoreMemory
import io.holdfast.rows.RowChecksums
import io.holdfast.table.{EventTime, Transaction, Version}

/** Rebuilds versions from the files of a store: the newest snapshot that can be read, and the deltas
  * after it in order.
  *
  * Any thread may call; calls do not wait for each other.
  *
  * @param inMemory
  *   versions that need no file
  * @param inUse
  *   counts the version that deltas are applied to
  * @param memory
  *   counts what is made of it, and the files that were read ahead
  * @param readers
  *   fetches files ahead
  */
final private[holdfast] class VersionLoader(
    context: StoreContext,
    files: StateFiles,
    inMemory: VersionsInMemory,
    inUse: VersionsInUse,
    memory: StoreMemory,
    readers: Executor)
    extends Logging {
  import VersionLoader._

  private val conf = context.conf

  private val choice = new SnapshotChoice(conf, context.id.toString)

  // As in Spark, the first row that the provider ever reads is held against the schema.
  private val rowFormatChecked = new AtomicBoolean(false)

  /** Rebuilds a version.
    *
    * @param eventTime
    *   where the time of its rows lies, if that is known
    * @throws org.apache.spark.SparkException
    *   of class CANNOT_LOAD_STATE_STORE if files are missing or damaged
    */
  def load(version: VersionId, eventTime: Option[EventTime]): RebuiltVersion =
    load(version, eventTime, files.list(), MostTries)

  // A load that takes long may be overtaken by snapshots and a cleanup, also of other executors: the
  // files that it has set out with go, and others lead to the version. In format 1 others may have the
  // same names and sizes, and only their times tell, which some file systems change from one listing to
  // the next. So the tries have an end, or damage would be tried again for ever and never told.
  private def load(
      version: VersionId,
      eventTime: Option[EventTime],
      listing: StateFileListing,
      tries: Int): RebuiltVersion =
    try loadBy(listing, version, eventTime)
    catch {
      case NonFatal(e) =>
        val now =
          try files.list()
          catch { case NonFatal(_) => listing }
        if (tries == 1 || now.chain(version) == listing.chain(version)) throw e
        logInfo(s"Loads version $version of $context by other files: ${e.getMessage}")
        load(version, eventTime, now, tries - 1)
    }

  private def loadBy(
      listing: StateFileListing,
      version: VersionId,
      eventTime: Option[EventTime]): RebuiltVersion = {
    tellPlan(version, listing)
    val kept = inMemoryBefore(version, listing)
    var base = context.empty
    // A version in memory stands for a snapshot that need not be read.
    val snapshots = (listing.snapshotsFor(version) ++ kept.map(_._1)).distinct
    val loaded = choice.load(version.number, snapshots) { snapshot =>
      base =
        if (snapshot.number <= 0) context.empty
        else
          kept
            .collect { case (`snapshot`, found) => found }
            .getOrElse(readSnapshot(snapshot, eventTime))
    }
    val rows = replay(loaded.snapshot, base, version, listing, eventTime)
    rebuilt(rows, loaded.snapshot, version, listing, loaded.repaired)
  }

  /** Rebuilds a version from exactly this snapshot, as `snapshotStartBatchId` of the `statestore`
    * source asks for.
    */
  def loadFrom(snapshot: VersionId, version: VersionId): RebuiltVersion = {
    val base = inMemory.get(snapshot).getOrElse {
      try readSnapshot(snapshot, eventTime = None)
      catch {
        case _: FileNotFoundException =>
          throw StateErrors.noSuchSnapshot(
            files.path(StateFile.Snapshot, snapshot).toString,
            context.toString)
      }
    }
    val listing = files.list()
    val rows = replay(snapshot.number, base, version, listing, eventTime = None)
    rebuilt(rows, snapshot.number, version, listing, repaired = false)
  }

  private def rebuilt(
      rows: Version,
      snapshot: Long,
      version: VersionId,
      listing: StateFileListing,
      repaired: Boolean): RebuiltVersion =
    RebuiltVersion(
      rows,
      snapshot,
      version.number - snapshot,
      listing.bytesRead(snapshot, version),
      repaired,
      listing.delta(version).map(file => KnownDelta.Listed(file.bytes, file.modifiedMillis)),
      listing.latestVersion.fold(version.number)(_ max version.number))

  // A large state takes a while, and until then nothing else is heard of it.
  private def tellPlan(version: VersionId, listing: StateFileListing): Unit =
    listing.chain(version).foreach { chain =>
      val snapshot = chain.snapshot.fold("none")(_.version.number.toString)
      val size = chain.size
      logInfo(
        s"Version $version of $context is not in memory, and is loaded from files: " +
          s"snapshot=$snapshot snapshotBytes=${size.snapshotBytes.getOrElse(0L)} " +
          s"deltas=${size.deltas} deltaBytes=${size.deltaBytes}")
    }

  // The newest that is in memory, if deltas in the folder may follow it: a store that comes back to
  // this executor may have been made again by another attempt, elsewhere.
  private def inMemoryBefore(
      version: VersionId,
      listing: StateFileListing): Option[(VersionId, Version)] = {
    val before =
      if (version.id.isDefined) listing.lineage(version)
      else
        inMemory.ids.reverseIterator.filter(id => id.id.isEmpty && id.number <= version.number)
    before
      .flatMap(id => inMemory.get(id).map(id -> _))
      .find { case (id, rows) => !inMemory.delta(rows).exists(mayBeReplaced(id, _, listing)) }
  }

  private def mayBeReplaced(id: VersionId, delta: KnownDelta, listing: StateFileListing): Boolean =
    try files.isReplaced(id, delta, listing)
    catch { case NonFatal(_) => true }

  private def replay(
      snapshot: Long,
      base: Version,
      version: VersionId,
      listing: StateFileListing,
      eventTime: Option[EventTime]): Version =
    if (snapshot == version.number) base
    else {
      val deltas = listing.deltasBetween(snapshot, version)
      Closing.after(inUse.use(base)) { _ =>
        Closing.after(new ReadAhead(files, listing, deltas, memory, readers)) { ahead =>
          changed(base, eventTime) { rows =>
            var expected = snapshot + 1
            deltas.foreach { delta =>
              if (delta.number != expected) {
                throw idOfAnother(version, listing).getOrElse(missingBase(expected, version))
              }
              readDelta(delta, version, rows, ahead)
              rows.compact()
              expected += 1
            }
          }
        }
      }
    }

  private def changed(base: Version, eventTime: Option[EventTime])(
      change: Transaction => Unit): Version = {
    val use = memory.newUse()
    val rows = base.openToLoad(use, eventTime)
    try {
      change(rows)
      rows.commit()
    } finally {
      rows.abort()
      use.end()
    }
  }

  private def readDelta(
      delta: VersionId,
      target: VersionId,
      rows: Transaction,
      ahead: ReadAhead): Unit =
    try read(StateFile.Delta, delta, rows, ahead.open(delta))
    catch {
      case e: FileNotFoundException if delta == target =>
        throw StateErrors.noSuchVersion(files.path(StateFile.Delta, delta), e)
      case e: FileNotFoundException =>
        throw missingDelta(files.path(StateFile.Delta, delta), delta.number, target, Some(e))
    }

  // The error for a version that has no file and the id of another version, as Spark asks for it where
  // the newest commit file is gone (`MicroBatchExecution.populateStartOffsets`, 4.2).
  private def idOfAnother(version: VersionId, listing: StateFileListing): Option[Throwable] =
    for {
      id <- version.id
      of <- listing.files.collectFirst { case file if file.version.id.contains(id) => file.version }
      if of.number != version.number
    } yield {
      val sentence = new FileNotFoundException(
        s"the checkpoint id $id is that of version ${of.number}, and Spark asks for version " +
          s"${version.number} of $context by it: the checkpoint has no commits/${version.number - 1}; " +
          "restore it")
      StateErrors.noSuchVersion(files.path(StateFile.Delta, version), sentence)
    }

  // The error for a version whose base is not in the folder. With ids, the name of the missing file is
  // not known.
  private def missingBase(number: Long, target: VersionId): Throwable =
    missingDelta(files.deltasOf(number), number, target, None)

  private def missingDelta(
      path: Path,
      number: Long,
      target: VersionId,
      cause: Option[Throwable]): Throwable = {
    val sentence = new FileNotFoundException(
      s"version $target of $context needs the changes of version $number, and there is neither " +
        s"$path nor a snapshot after it; restore the file, or restart the query from a version " +
        "whose files are complete")
    cause.foreach(sentence.initCause)
    StateErrors.missingDelta(path, context.toString, sentence)
  }

  private def readSnapshot(version: VersionId, eventTime: Option[EventTime]): Version =
    changed(context.empty, eventTime) {
      read(StateFile.Snapshot, version, _, files.open(StateFile.Snapshot, version))
    }

  private def read(
      kind: StateFile.Kind,
      version: VersionId,
      rows: Transaction,
      raw: InputStream): Unit = {
    val records =
      try apply(kind, version, rows, raw)
      catch {
        case e: StateFileException => throw asSparkError(e, kind, version)
      }
    logInfo(s"Read $records records of ${files.path(kind, version)} for $context")
  }

  private def apply(
      kind: StateFile.Kind,
      version: VersionId,
      rows: Transaction,
      raw: InputStream): Long = context.families match {
    case None =>
      files.read(kind, version, raw)(Replay.into(rows, _, context.format.checksums, checkRowFormat))
    case Some(families) =>
      files.readFamilies(kind, version, raw) { reader =>
        new FamilyReplay(rows, reader, context.format.checksums, families).run()
      }
  }

  private val checkRowFormat: Replay.RowCheck =
    (bytes, keyOffset, keyLength, valueOffset, valueLength) =>
      if (rowFormatChecked.compareAndSet(false, true)) {
        def row(fields: Int, offset: Int, length: Int): UnsafeRow = {
          val row = new UnsafeRow(fields)
          row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + offset, length)
          row
        }
        RowFormats.check(
          row(context.keySchema.length, keyOffset, keyLength),
          row(context.valueSchema.length, valueOffset, valueLength),
          context)
      }

  // Spark's error class where it has one, with our sentence as the cause.
  private def asSparkError(
      e: StateFileException,
      kind: StateFile.Kind,
      version: VersionId): Throwable = {
    val path = files.path(kind, version)
    (e, kind) match {
      case (e: InvalidKeyLengthException, StateFile.Delta) =>
        StateErrors.invalidDeltaKeyLength(path, context.toString, e.length, e)
      case (e: InvalidKeyLengthException, StateFile.Snapshot) =>
        StateErrors.invalidSnapshotKeyLength(path, context.toString, e.length, e)
      case (e: InvalidValueLengthException, _) =>
        StateErrors.invalidSnapshotValueLength(path, context.toString, e.length, e)
      case (e: RowChecksumException, _) =>
        RowChecksums.failedInFile(context.id.toString, e.expected, e.computed, e)
      case _ => e
    }
  }
}

private object VersionLoader {
  // To be overtaken once is rare already.
  private val MostTries = 4
}
