package io.holdfast.store

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path
import org.apache.spark.{SparkException, SparkThrowable}
import org.apache.spark.sql.execution.streaming.state.holdfast.StateErrors

import io.holdfast.checkpoint.{HoldfastCommand, VersionId}
import io.holdfast.conf.StoreContext
import io.holdfast.file.StateFileException
import io.holdfast.memory.MemoryLimitException

/** What a user is told when a version cannot be loaded or committed.
  *
  * Of an error that ends a query Spark shows the first line, and no cause of it
  * (`StreamExecution.runStream`, Spark 4.2; the same in PySpark). So that line has to say all: which
  * version of which store, why, in which file, and what to do. Class and parameters of the errors are
  * those of Spark's own provider. Any thread may call.
  */
final private[holdfast] class StoreFailures(context: StoreContext) {

  /** The error of class CANNOT_LOAD_STATE_STORE for what went wrong while a version was loaded. */
  def cannotLoad(id: VersionId, e: Throwable): Throwable = {
    val error = e match {
      case e: OutOfMemoryError => StateErrors.notEnoughMemory(context.id.toString, e)
      case other => StateErrors.cannotLoad(other)
    }
    saying(error, s"Version $id of $place cannot be loaded: ${sentence(reason(error))}${advice(e)}")
  }

  /** The error of class CANNOT_WRITE_STATE_STORE for what went wrong in a commit.
    *
    * @param store
    *   the store as Spark names it in its error
    * @param file
    *   the delta file of the version
    */
  def cannotCommit(id: VersionId, store: String, file: Path, e: Throwable): Throwable = {
    val why =
      if (!chain(e).exists(_.isInstanceOf[IOException])) sentence(reason(e))
      else
        s"${sentence(s"writing $file failed with ${reason(e)}")} The checkpoint holds what was " +
          "committed before: give it room and access, and start the query again."
    val error = StateErrors.cannotCommit(store, e)
    saying(
      error,
      s"${StateErrors.withoutClass(error).trim} Version $id of $place cannot be committed: $why")
  }

  /** The error of class CANNOT_LOAD_STATE_STORE for changes that are to be shown and are not there.
    *
    * @param file
    *   the delta file of their version
    * @param firstBatch
    *   the first batch from which on all changes are there, if there is one
    */
  def noChanges(number: Long, file: Path, firstBatch: Option[Long], e: Throwable): Throwable = {
    val advice = firstBatch.fold("")(batch => s" Set changeStartBatchId to $batch or later.")
    saying(
      StateErrors.missingDelta(file, context.toString, e),
      s"The changes of version $number of $place cannot be shown: $file does not exist.$advice")
  }

  private def saying(error: Throwable, sentence: String): Throwable = error match {
    case spark: SparkException =>
      StateErrors.saying(spark, sentence, Option(spark.getCause).getOrElse(spark))
    case other => other
  }

  private def place: String = {
    val store = if (context.id.storeName == "default") "" else s", store ${context.id.storeName},"
    s"operator ${context.id.operatorId}, partition ${context.id.partitionId}$store of $checkpoint"
  }

  // Spark gives a store the folder `state` of its checkpoint.
  private def checkpoint: String = {
    val root = new Path(context.id.checkpointRootLocation)
    (if (root.getName == "state") root.getParent else root).toString
  }

  private def reason(e: Throwable): String = e match {
    case said @ (_: StateFileException | _: MemoryLimitException | _: FileNotFoundException) =>
      said.getMessage
    case _: SparkThrowable => Option(e.getCause).fold(StateErrors.withoutClass(e))(reason)
    case other =>
      val text = Option(other.getMessage).filter(_.nonEmpty).fold("")(": " + _)
      s"${other.getClass.getSimpleName}$text"
  }

  private def advice(e: Throwable): String = {
    def isOf(condition: String) = e match {
      case spark: SparkThrowable => StateErrors.condition(spark).exists(_.endsWith(condition))
      case _ => false
    }
    e match {
      case _: MemoryLimitException => ""
      case _: OutOfMemoryError =>
        " Give the executors more memory or the query more executors."
      case _ if isOf(".UNEXPECTED_VERSION") => ""
      case _ =>
        val first =
          if (isOf(".CANNOT_READ_STREAMING_STATE_FILE"))
            " If the query has a new stateful operator, it needs a new checkpoint location."
          else ""
        s"$first To see what is damaged and what can be loaded, run: " +
          HoldfastCommand.verify(checkpoint)
    }
  }

  private def sentence(text: String): String = if (text.endsWith(".")) text else s"$text."

  private def chain(e: Throwable): Iterator[Throwable] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null)
}
