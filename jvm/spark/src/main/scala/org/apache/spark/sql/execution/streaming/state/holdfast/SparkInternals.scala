package org.apache.spark.sql.execution.streaming.state.holdfast

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.{QueryContext, SparkConf, SparkContext, SparkException, SparkThrowable}
import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.errors.QueryExecutionErrors
import org.apache.spark.sql.execution.streaming.checkpointing.{
  CheckpointFileManager,
  ChecksumCheckpointFileManager,
  ChecksumFile,
  OffsetSeqLog
}
import org.apache.spark.sql.execution.streaming.operators.stateful.flatmapgroupswithstate.GroupStateImpl
import org.apache.spark.sql.execution.streaming.state.{
  RecordType,
  StateStoreProvider,
  StateStoreProviderId
}
import org.apache.spark.util.{NextIterator, Utils}

/** The one place that reaches what Spark keeps private to its own packages: codecs, the error
  * classes of state stores and the coordinator. Nothing is decided here.
  *
  * Any thread may call.
  */
object SparkInternals {

  /** What `getStateStoreChangeDataReader` returns. */
  type ChangeDataReader = NextIterator[(RecordType.Value, UnsafeRow, UnsafeRow, Long)]

  /** What the state of a group has for the time at which it times out if it does not. */
  val NoTimeoutTimestamp: Long = GroupStateImpl.NO_TIMESTAMP

  /** The codec of a short name or class name.
    *
    * @throws org.apache.spark.SparkIllegalArgumentException
    *   of class CODEC_NOT_AVAILABLE if there is none
    */
  def codec(conf: SparkConf, name: String): CompressionCodec =
    CompressionCodec.createCodec(conf, name)

  def isChecksumFile(path: Path): Boolean = ChecksumCheckpointFileManager.isChecksumFile(path)

  /** The run id of the query, which Spark puts into the Hadoop configuration of a store. */
  def runId(hadoopConf: Configuration): String = StateStoreProvider.getRunId(hadoopConf)

  /** Tells the coordinator that a snapshot of a version exists, if there is a coordinator.
    *
    * @param millis
    *   the time now, since 1970
    */
  def reportSnapshot(id: StateStoreProviderId, version: Long, millis: Long): Unit =
    StateStoreProvider.coordinatorRef.foreach(_.snapshotUploaded(id, version, millis))

  /** Whether a setting was set on a session or before there was one, rather than left at its default. */
  def isSet(session: SparkSession, setting: String): Boolean =
    session.asInstanceOf[ClassicSession].sessionState.conf.contains(setting)

  /** What a setting was in the newest batch of a checkpoint, if there is one and it says so: a query
    * that goes on from there has it again, whatever its session says (`OffsetSeqMetadata`, Spark 4.2).
    */
  def boundTo(session: SparkSession, checkpoint: Path, setting: String): Option[String] = {
    val spark = session.asInstanceOf[ClassicSession]
    val offsets = new Path(checkpoint, "offsets")
    val manager = CheckpointFileManager.create(offsets, spark.sessionState.newHadoopConf())
    if (!manager.exists(offsets)) None
    else
      for {
        (_, batch) <- new OffsetSeqLog(spark, offsets.toString, readOnly = true).getLatest()
        metadata <- batch.metadataOpt
        value <- metadata.conf.get(setting)
      } yield value
  }

  /** Why Spark cannot make a state store provider of a class name, as the end of a sentence, or
    * nothing if it can.
    */
  def whyNoProvider(name: String): Option[String] =
    try
      Option.unless(
        classOf[StateStoreProvider].isAssignableFrom(
          Utils.classForName[AnyRef](name, initialize = false)))("which is no StateStoreProvider")
    catch {
      case _: ClassNotFoundException => Some("and there is no such class on the class path")
      case e: LinkageError => Some(s"and this class cannot be loaded ($e)")
    }

  /** Largest heap of a JVM that holds stores: that of an executor, or in local mode of this one. */
  def executorHeapBytes(context: SparkContext): Long =
    if (context.isLocal) Runtime.getRuntime.maxMemory else context.executorMemory * 1024L * 1024L

  /** Deletes checksum files whose state file is gone, see `StateStoreProvider` (Spark 4.1). */
  def deleteOrphanChecksumFiles(
      manager: CheckpointFileManager,
      checksumFiles: Seq[ChecksumFile],
      minVersionToRetain: Long,
      fileChecksumEnabled: Boolean): Unit =
    StateStoreProvider.deleteOrphanChecksumFiles(
      manager,
      checksumFiles,
      Seq.empty,
      minVersionToRetain,
      fileChecksumEnabled)

  /** CANNOT_LOAD_STATE_STORE.UNEXPECTED_VERSION */
  def unexpectedVersion(version: Long): Throwable =
    QueryExecutionErrors.unexpectedStateStoreVersion(version)

  /** CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE */
  def noSuchVersion(file: Path, cause: Throwable): Throwable =
    QueryExecutionErrors.failedToReadStreamingStateFileError(file, cause)

  /** CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS */
  def missingDelta(file: Path, store: String, cause: Throwable): Throwable =
    QueryExecutionErrors.failedToReadDeltaFileNotExistsError(file, store, cause)

  /** CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_KEY_SIZE */
  def invalidDeltaKeyLength(file: Path, store: String, length: Int, cause: Throwable): Throwable =
    because(QueryExecutionErrors.failedToReadDeltaFileKeySizeError(file, store, length), cause)

  /** CANNOT_LOAD_STATE_STORE.CANNOT_READ_SNAPSHOT_FILE_KEY_SIZE */
  def invalidSnapshotKeyLength(
      file: Path,
      store: String,
      length: Int,
      cause: Throwable): Throwable =
    because(QueryExecutionErrors.failedToReadSnapshotFileKeySizeError(file, store, length), cause)

  /** CANNOT_LOAD_STATE_STORE.CANNOT_READ_SNAPSHOT_FILE_VALUE_SIZE */
  def invalidSnapshotValueLength(
      file: Path,
      store: String,
      length: Int,
      cause: Throwable): Throwable =
    because(QueryExecutionErrors.failedToReadSnapshotFileValueSizeError(file, store, length), cause)

  /** CANNOT_LOAD_STATE_STORE.HDFS_STORE_PROVIDER_OUT_OF_MEMORY */
  def notEnoughMemory(store: String, cause: OutOfMemoryError): Throwable =
    QueryExecutionErrors.notEnoughMemoryToLoadStore(store, "HDFS_STORE_PROVIDER", cause)

  /** CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT */
  def cannotCommit(store: String, cause: Throwable): Throwable =
    QueryExecutionErrors.failedToCommitStateFileError(store, cause)

  /** The same error, by class and parameters, with another sentence. */
  def saying(error: SparkException, sentence: String, cause: Throwable): SparkException =
    new SparkException(
      s"[${error.getCondition}] $sentence SQLSTATE: ${error.getSqlState}",
      cause,
      Option(error.getCondition),
      error.getMessageParameters.asScala.toMap,
      Array.empty[QueryContext])

  /** The sentence of an error without the class before and the SQL state after it. */
  def withoutClass(error: Throwable): String = error match {
    case spark: SparkThrowable =>
      error.getMessage
        .stripPrefix(s"[${spark.getCondition}] ")
        .stripSuffix(s" SQLSTATE: ${spark.getSqlState}")
    case _ => error.getMessage
  }

  // Spark makes these errors without a cause, and then none can be added.
  private def because(error: Throwable, cause: Throwable): Throwable = error match {
    case e: SparkException =>
      new SparkException(e.getCondition, e.getMessageParameters.asScala.toMap, cause)
    case other => other
  }
}
