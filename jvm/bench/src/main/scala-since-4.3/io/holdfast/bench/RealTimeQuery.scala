package io.holdfast.bench

import java.nio.file.Path
import java.util.SplittableRandom
import java.util.concurrent.locks.LockSupport

import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream
import org.apache.spark.sql.functions.{count, max}
import org.apache.spark.sql.streaming.{
  OutputMode,
  StatefulProcessor,
  StreamingQuery,
  StreamingQueryProgress,
  TTLConfig,
  TimeMode,
  TimerValues,
  Trigger,
  ValueState
}
import org.apache.spark.sql.{DataFrame, Dataset, Encoder, Encoders, SparkSession}

/** A record, with the time at which it was made, in nanoseconds. */
final case class Record(key: Long, made: Long)

/** A query in real-time mode that writes a row for each record. */
final class RealTimeQuery(spark: SparkSession, name: String, keys: Long, checkpoint: Path) {
  import RealTimeQuery._

  private implicit val records: Encoder[Record] = Encoders.product
  private val input = LowLatencyMemoryStream.singlePartition[Record](spark)
  private val random = new SplittableRandom(42L)
  private var newest = keys

  /** Puts all keys into the state, in micro-batches. */
  def load(): Unit = {
    val running = start(Trigger.ProcessingTime(0L))
    try
      (0L until keys).grouped(LoadedAtOnce).foreach { some =>
        input.addData(some.map(Record(_, System.nanoTime())))
        running.processAllAvailable()
      }
    finally running.stop()
  }

  /** Makes records for some time, at a rate, and returns what the query says of its batches. */
  def run(batchMillis: Long, perSecond: Int, nanos: Long): Seq[StreamingQueryProgress] = {
    val running = start(Trigger.RealTime(batchMillis))
    try {
      val began = System.nanoTime()
      var made = 0L
      var now = began
      while (now - began < nanos && running.isActive) {
        val due = (now - began) / 1e9 * perSecond
        val some = (made until due.toLong).map(_ => Record(nextKey(), System.nanoTime()))
        if (some.nonEmpty) input.addData(some)
        made += some.size
        LockSupport.parkNanos(PauseNanos)
        now = System.nanoTime()
      }
    } finally running.stop()
    running.exception.foreach(throw _)
    running.recentProgress.toSeq
  }

  // A record that was there before is not written by deduplication.
  private def nextKey(): Long =
    if (name != "deduplication") random.nextLong(keys)
    else {
      newest += 1
      newest
    }

  private def start(trigger: Trigger): StreamingQuery = queries(name)(input.toDS()).writeStream
    .outputMode(OutputMode.Update)
    .option("checkpointLocation", checkpoint.toString)
    .trigger(trigger)
    .foreach(Latencies.writer)
    .start()
}

object RealTimeQuery {
  private val LoadedAtOnce = 50000
  private val PauseNanos = 1000000L

  private implicit val longs: Encoder[Long] = Encoders.scalaLong
  private implicit val records: Encoder[Record] = Encoders.product

  private val queries: Map[String, Dataset[Record] => DataFrame] = Map(
    "aggregation" -> (_.groupBy("key").agg(count("*"), max("made").as("made"))),
    "deduplication" -> (_.dropDuplicates("key").toDF()),
    "transformWithState" -> (_.groupByKey(_.key)
      .transformWithState(new Counts, TimeMode.None(), OutputMode.Update())
      .toDF()))

  /** Counts the records of a key. */
  final private class Counts extends StatefulProcessor[Long, Record, Record] {
    @transient private var times: ValueState[Long] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
      times = getHandle.getValueState("times", Encoders.scalaLong, TTLConfig.NONE)

    override def handleInputRows(
        key: Long,
        found: Iterator[Record],
        timers: TimerValues): Iterator[Record] = found.map { record =>
      times.update((if (times.exists()) times.get() else 0L) + 1L)
      record
    }
  }
}
