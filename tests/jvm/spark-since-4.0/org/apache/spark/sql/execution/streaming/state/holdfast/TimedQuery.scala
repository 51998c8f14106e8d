package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.Dataset
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.sources.ForeachBatchSink
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery, Trigger}
import org.apache.spark.util.Clock

/** Starts queries whose processing time is what a test says. */
object TimedQuery {

  /** @param millis
    *   the processing time of a batch that is planned now, in milliseconds; for any thread
    * @param write
    *   what is done with the rows of a batch
    */
  def start[A](
      rows: Dataset[A],
      outputMode: OutputMode,
      checkpoint: String,
      trigger: Trigger,
      millis: () => Long)(write: (Dataset[A], Long) => Unit): StreamingQuery = {
    val written = rows.asInstanceOf[classic.Dataset[A]]
    written.sparkSession.streams.startQuery(
      userSpecifiedName = None,
      userSpecifiedCheckpointLocation = Some(checkpoint),
      df = written,
      extraOptions = Map.empty,
      sink = new ForeachBatchSink[A](write, written.exprEnc),
      outputMode = outputMode,
      trigger = trigger,
      triggerClock = new GivenClock(millis))
  }

  private final class GivenClock(millis: () => Long) extends Clock {
    override def getTimeMillis(): Long = millis()

    override def nanoTime(): Long = System.nanoTime()

    override def waitTillTime(targetTime: Long): Long = targetTime
  }
}
