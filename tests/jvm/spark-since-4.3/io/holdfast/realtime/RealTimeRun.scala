package io.holdfast.realtime

import java.nio.file.Path

import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery, Trigger}
import org.apache.spark.sql.{Encoder, Encoders, SparkSession}

/** A query that is started, given events, and stopped, and goes on from its checkpoint.
  *
  * @param name
  *   of its output
  */
final class RealTimeRun(spark: SparkSession, query: RealTimeQuery, name: String, checkpoint: Path) {
  private implicit val said: Encoder[Said] = Encoders.product

  private val input = LowLatencyMemoryStream.singlePartition[Said](spark)(said)

  // Rows that the query has still to take.
  private var waiting = 0L

  /** Adds events that the query has seen, as its checkpoint says: the source begins empty in each JVM. */
  def addSeen(events: Seq[Said]): Unit = {
    input.addData(events)
    ()
  }

  def add(events: Seq[Said]): Unit = {
    addSeen(events)
    waiting += events.size
  }

  def output: Seq[String] = RealTimeOutput.of(name)

  def start(trigger: Trigger): StreamingQuery = query
    .on(input.toDS())
    .writeStream
    .outputMode(OutputMode.Update)
    .option("checkpointLocation", checkpoint.toString)
    .trigger(trigger)
    .foreach(RealTimeOutput.writer(name))
    .start()

  /** Runs the query until batches with some more events have been committed, and stops it.
    *
    * @return
    *   the query that was stopped
    */
  def process(trigger: Trigger, events: Seq[Said]*): StreamingQuery = {
    val running = start(trigger)
    try
      events.foreach { some =>
        add(some)
        // In real-time mode the end of a batch may be told of that began before the events came.
        do running.processAllAvailable() while (taken(running) < waiting)
      }
    finally running.stop()
    waiting = 0
    running
  }

  private def taken(running: StreamingQuery): Long = running.recentProgress.map(_.numInputRows).sum
}

object RealTimeRun {
  val RealTime: Trigger = Trigger.RealTime(RealTimeSession.BatchMillis)
  val MicroBatches: Trigger = Trigger.ProcessingTime(0L)
}
