package io.holdfast.query

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Encoders, Row, SparkSession}
import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.memoryStream
import org.apache.spark.sql.streaming.StreamingQuery

/** A query that is started, given events, stopped and started again from its checkpoint. */
final class QueryRun(spark: SparkSession, query: StatefulQuery, val checkpoint: QueryCheckpoint) {
  private val input = memoryStream(Encoders.product[Event], spark)
  private val outputs = mutable.Map[Long, Seq[Row]]()

  /** What the query has written, by batch. */
  def output: Map[Long, Seq[Row]] = outputs.toMap

  /** Runs the query until it has seen all these events, each sequence in a batch of its own.
    *
    * @return
    *   names of the custom metrics of its provider
    */
  def process(batches: Seq[Seq[Event]]): Set[String] = {
    val running = start()
    try {
      batches.foreach { events =>
        input.addData(events)
        running.processAllAvailable()
      }
      running.lastProgress.stateOperators.head.customMetrics.keySet.toArray(Array[String]()).toSet
    } finally running.stop()
  }

  private def start(): StreamingQuery = {
    val keep: (DataFrame, Long) => Unit = (rows, batch) =>
      outputs(batch) = rows.collect().toSeq.sortBy(_.toString)
    query
      .on(input.toDF())
      .writeStream
      .outputMode(query.outputMode)
      .option("checkpointLocation", checkpoint.location)
      .foreachBatch(keep)
      .start()
  }
}
