package org.apache.spark.sql.execution.streaming.state.holdfast

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path

import org.apache.spark.{QueryContext, SparkException, SparkThrowable}
import org.apache.spark.sql.errors.QueryExecutionErrors
import org.apache.spark.sql.execution.streaming.state.StateStoreErrors

/** Spark's errors of state stores, which have classes from Spark 4.0 on. Any thread may call. */
object StateErrors {

  /** The name of an error's class, if it has one. */
  def condition(error: SparkThrowable): Option[String] = Option(error.getCondition)

  /** CANNOT_LOAD_STATE_STORE.UNEXPECTED_VERSION */
  def unexpectedVersion(version: Long): Throwable =
    QueryExecutionErrors.unexpectedStateStoreVersion(version)

  /** CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE */
  def noSuchVersion(file: Path, cause: Throwable): Throwable =
    QueryExecutionErrors.failedToReadStreamingStateFileError(file, cause)

  /** CANNOT_LOAD_STATE_STORE.CANNOT_READ_MISSING_SNAPSHOT_FILE */
  def noSuchSnapshot(file: String, store: String): Throwable =
    StateStoreErrors.stateStoreSnapshotFileNotFound(file, store)

  /** An error of class CANNOT_LOAD_STATE_STORE, for what has none yet. */
  def cannotLoad(cause: Throwable): Throwable = LoadErrors.uncategorized(cause)

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
