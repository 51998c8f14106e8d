package io.holdfast

import java.io.FileNotFoundException
import java.util.concurrent.atomic.AtomicBoolean

import io.holdfast.file._
import io.holdfast.table.{Transaction, Version}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals
import org.apache.spark.sql.execution.streaming.state.{
  AutoSnapshotLoader,
  StateStoreErrors,
  StateStoreProvider
}
import org.apache.spark.unsafe.Platform

/** Rebuilds versions from the files of a store: the newest snapshot that can be read, and the deltas
  * after it in order.
  *
  * Any thread may call; calls do not wait for each other.
  *
  * @param inMemory
  *   versions that need no file
  */
final private[holdfast] class VersionLoader(
    context: StoreContext,
    files: StateFiles,
    inMemory: LoadedVersions
) extends Logging {
  private val conf = context.conf

  // As in Spark, the first row that the provider ever reads is held against the schema.
  private val rowFormatChecked = new AtomicBoolean(false)

  /** Rebuilds a version.
    *
    * @throws org.apache.spark.SparkException
    *   of class CANNOT_LOAD_STATE_STORE if files are missing or damaged
    */
  def load(version: Long): LoadedVersion = {
    val (snapshot, base, repaired) = loadBase(version)
    LoadedVersion(replay(snapshot, base, version), snapshot, version - snapshot, repaired)
  }

  /** Rebuilds a version from exactly this snapshot, as `snapshotStartBatchId` of the `statestore`
    * source asks for.
    */
  def loadFrom(snapshot: Long, version: Long): LoadedVersion = {
    val base = inMemory.get(snapshot).getOrElse {
      try readSnapshot(snapshot)
      catch {
        case _: FileNotFoundException =>
          throw StateStoreErrors.stateStoreSnapshotFileNotFound(
            files.snapshot(snapshot).toString,
            context.toString
          )
      }
    }
    LoadedVersion(replay(snapshot, base, version), snapshot, version - snapshot, repaired = false)
  }

  private def loadBase(version: Long): (Long, Version, Boolean) = {
    var loaded = context.empty
    val loader = new AutoSnapshotLoader(
      conf.autoSnapshotRepairEnabled,
      conf.autoSnapshotRepairNumFailuresBeforeActivating,
      conf.autoSnapshotRepairMaxChangeFileReplay,
      context.id.toString
    ) {

      override protected def beforeLoad(): Unit = ()

      override protected def loadSnapshotFromCheckpoint(
          snapshot: Long,
          uniqueId: Option[String]
      ): Unit =
        loaded =
          if (snapshot <= 0) context.empty
          else inMemory.get(snapshot).getOrElse(readSnapshot(snapshot))

      override protected def onLoadSnapshotFromCheckpointFailure(): Unit = ()

      override protected def getEligibleSnapshots(upTo: Long): Seq[(Long, Option[String])] =
        (files.list().snapshots(upTo) ++ inMemory.numbers.filter(_ <= upTo)).distinct.map(_ -> None)
    }
    val (snapshot, repaired) = loader.loadSnapshot(version)
    (snapshot, loaded, repaired)
  }

  private def replay(snapshot: Long, base: Version, version: Long): Version =
    if (snapshot == version) base
    else {
      val rows = base.open()
      try {
        (snapshot + 1 to version).foreach { delta =>
          readDelta(delta, version, rows)
          rows.compact()
        }
        rows.commit()
      } finally rows.abort()
    }

  private def readDelta(delta: Long, target: Long, rows: Transaction): Unit =
    try read(StateFile.Delta, delta, rows)
    catch {
      case e: FileNotFoundException if delta == target =>
        throw SparkInternals.noSuchVersion(files.delta(delta), e)
      case e: FileNotFoundException =>
        val sentence = new FileNotFoundException(
          s"version $target of $context needs the changes of version $delta, and there is neither " +
            s"${files.delta(delta)} nor a snapshot after it; restore the file, or restart the query " +
            "from a version whose files are complete"
        )
        sentence.initCause(e)
        throw SparkInternals.missingDelta(files.delta(delta), context.toString, sentence)
    }

  private def readSnapshot(version: Long): Version = {
    val rows = context.empty.open()
    try {
      read(StateFile.Snapshot, version, rows)
      rows.commit()
    } finally rows.abort()
  }

  private def read(kind: StateFile.Kind, version: Long, rows: Transaction): Unit = {
    val records =
      try
        files.read(kind, version)(Replay.into(rows, _, conf.rowChecksumEnabled, checkRowFormat))
      catch {
        case e: StateFileException => throw asSparkError(e, kind, version)
      }
    logInfo(s"Read $records records of ${files.path(kind, version)} for $context")
  }

  private val checkRowFormat: Replay.RowCheck =
    (bytes, keyOffset, keyLength, valueOffset, valueLength) =>
      if (rowFormatChecked.compareAndSet(false, true)) {
        def row(fields: Int, offset: Int, length: Int): UnsafeRow = {
          val row = new UnsafeRow(fields)
          row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + offset, length)
          row
        }
        StateStoreProvider.validateStateRowFormat(
          row(context.keySchema.length, keyOffset, keyLength),
          context.keySchema,
          row(context.valueSchema.length, valueOffset, valueLength),
          context.valueSchema,
          context.id,
          conf
        )
      }

  // Spark's error class where it has one, with our sentence as the cause.
  private def asSparkError(
      e: StateFileException,
      kind: StateFile.Kind,
      version: Long
  ): Throwable = {
    val path = files.path(kind, version)
    val error = (e, kind) match {
      case (e: InvalidKeyLengthException, StateFile.Delta) =>
        SparkInternals.invalidDeltaKeyLength(path, context.toString, e.length)
      case (e: InvalidKeyLengthException, StateFile.Snapshot) =>
        SparkInternals.invalidSnapshotKeyLength(path, context.toString, e.length)
      case (e: InvalidValueLengthException, _) =>
        SparkInternals.invalidSnapshotValueLength(path, context.toString, e.length)
      case (e: RowChecksumException, _) =>
        StateStoreErrors.rowChecksumVerificationFailed(context.id.toString, e.expected, e.computed)
      case _ => e
    }
    if (error ne e) error.initCause(e)
    error
  }
}

/** A version that was rebuilt from files.
  *
  * @param snapshot
  *   the version it was begun from
  * @param replayedFiles
  *   number of deltas applied to that
  * @param repaired
  *   whether an unreadable newer snapshot was passed over
  */
final private[holdfast] case class LoadedVersion(
    version: Version,
    snapshot: Long,
    replayedFiles: Long,
    repaired: Boolean
)
