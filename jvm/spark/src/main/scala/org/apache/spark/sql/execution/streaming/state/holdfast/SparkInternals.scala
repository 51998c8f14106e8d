package org.apache.spark.sql.execution.streaming.state.holdfast

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.{SparkConf, SparkException}
import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.errors.QueryExecutionErrors
import org.apache.spark.sql.execution.streaming.checkpointing.{
  CheckpointFileManager,
  ChecksumCheckpointFileManager,
  ChecksumFile
}
import org.apache.spark.sql.execution.streaming.state.{
  RecordType,
  StateStoreProvider,
  StateStoreProviderId
}
import org.apache.spark.util.NextIterator

/** The one place that reaches what Spark keeps private to its own packages: codecs, the error
  * classes of state stores and the coordinator. Nothing is decided here.
  *
  * Any thread may call.
  */
object SparkInternals {

  /** What `getStateStoreChangeDataReader` returns. */
  type ChangeDataReader = NextIterator[(RecordType.Value, UnsafeRow, UnsafeRow, Long)]

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

  /** Tells the coordinator that a snapshot of a version exists, if there is a coordinator. */
  def reportSnapshot(id: StateStoreProviderId, version: Long): Unit =
    StateStoreProvider.coordinatorRef.foreach(
      _.snapshotUploaded(id, version, System.currentTimeMillis()))

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

  // Spark makes these errors without a cause, and then none can be added.
  private def because(error: Throwable, cause: Throwable): Throwable = error match {
    case e: SparkException =>
      new SparkException(e.getCondition, e.getMessageParameters.asScala.toMap, cause)
    case other => other
  }
}
