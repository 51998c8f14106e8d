package io.holdfast.eviction

import java.io.OutputStream
import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.memoryStream
import org.apache.spark.sql.streaming.{StateOperatorProgress, StreamingQuery}
import org.apache.spark.sql.{DataFrame, Encoders, SparkSession}

/** A query that is started, given sightings, stopped and started again from its checkpoint. */
final class EvictionRun(spark: SparkSession, query: EvictionQuery, folder: Path) {
  private val input = memoryStream(Encoders.product[Sighting], spark)
  private val outputs = mutable.Map[Long, Seq[String]]()
  private val reports = mutable.Map[Long, Seq[StateOperatorProgress]]()

  /** What each batch wrote, in the order in which it came. */
  def output: Map[Long, Seq[String]] = outputs.toMap

  /** What each operator reported of each batch, operators in the order of their numbers. */
  def progress: Map[Long, Seq[StateOperatorProgress]] = reports.toMap

  def checkpoint: String = folder.toString

  /** Runs the query until it has seen all these, each sequence in a batch of its own.
    *
    * @param beside
    *   what is done in each batch before its rows are asked for, on the thread of the query
    */
  def process(batches: Seq[Seq[Sighting]])(beside: Long => Unit): Unit = {
    val keep: (DataFrame, Long) => Unit = (rows, batch) => {
      beside(batch)
      outputs(batch) = rows.collect().toSeq.map(_.toString)
    }
    val running = query
      .on(input.toDS())
      .writeStream
      .outputMode(query.mode)
      .option("checkpointLocation", checkpoint)
      .foreachBatch(keep)
      .start()
    try {
      batches.foreach { rows =>
        input.addData(rows)
        running.processAllAvailable()
      }
      keepReports(running)
    } finally running.stop()
  }

  /** Shows the plan of the query, which does not run. */
  def explain(): Unit =
    Console.withOut(OutputStream.nullOutputStream)(query.on(input.toDS()).explain())

  /** The bytes of the state files, by their paths. */
  def stateFiles: Map[String, Seq[Byte]] = Using.resource(Files.walk(folder.resolve("state"))) {
    _.iterator.asScala
      .filter(file => file.toString.endsWith(".delta") || file.toString.endsWith(".snapshot"))
      .map(file => folder.relativize(file).toString -> Files.readAllBytes(file).toSeq)
      .toMap
  }

  private def keepReports(running: StreamingQuery): Unit =
    running.recentProgress.foreach(report => reports(report.batchId) = report.stateOperators.toSeq)
}

object EvictionRun {

  /** A custom metric of an operator. */
  def metric(progress: StateOperatorProgress, name: String): Long =
    progress.customMetrics.get(name).longValue
}
