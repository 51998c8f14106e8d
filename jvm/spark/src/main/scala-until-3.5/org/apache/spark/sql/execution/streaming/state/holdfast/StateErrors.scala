package org.apache.spark.sql.execution.streaming.state.holdfast

import java.io.IOException

import org.apache.hadoop.fs.Path

import org.apache.spark.{SparkException, SparkThrowable}

/** The errors of state stores, for which Spark 3.5 has no classes: what tells them apart is their
  * sentence. Any thread may call.
  */
object StateErrors {

  /** The name of an error's class, if it has one. */
  def condition(error: SparkThrowable): Option[String] = Option(error.getErrorClass)

  def unexpectedVersion(version: Long): Throwable =
    new IllegalStateException(s"Version $version of a state store cannot be: it is negative")

  def noSuchVersion(file: Path, cause: Throwable): Throwable =
    new IllegalStateException(s"$file does not exist", cause)

  def noSuchSnapshot(file: String, store: String): Throwable =
    new IOException(s"$file does not exist, which $store is to be rebuilt from")

  /** An error for what could not be loaded. */
  def cannotLoad(cause: Throwable): Throwable = new SparkException(cause.getMessage, cause)

  def missingDelta(file: Path, store: String, cause: Throwable): Throwable =
    new IllegalStateException(s"$file of $store does not exist: ${cause.getMessage}", cause)

  def invalidDeltaKeyLength(file: Path, store: String, length: Int, cause: Throwable): Throwable =
    cause

  def invalidSnapshotKeyLength(
      file: Path,
      store: String,
      length: Int,
      cause: Throwable): Throwable = cause

  def invalidSnapshotValueLength(
      file: Path,
      store: String,
      length: Int,
      cause: Throwable): Throwable = cause

  def notEnoughMemory(store: String, cause: OutOfMemoryError): Throwable =
    new SparkException(s"There is not enough memory to load $store", cause)

  def cannotCommit(store: String, cause: Throwable): Throwable =
    new SparkException(s"Error committing $store", cause)

  /** The same error with another sentence. */
  def saying(error: SparkException, sentence: String, cause: Throwable): SparkException =
    new SparkException(sentence, cause)

  /** The sentence of an error. */
  def withoutClass(error: Throwable): String = String.valueOf(error.getMessage)
}
