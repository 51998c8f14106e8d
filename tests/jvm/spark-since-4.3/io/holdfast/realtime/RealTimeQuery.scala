package io.holdfast.realtime

import java.sql.Timestamp

import org.apache.spark.sql.functions.{count, sum, window}
import org.apache.spark.sql.streaming.{
  OutputMode,
  StatefulProcessor,
  TTLConfig,
  TimeMode,
  TimerValues,
  ValueState
}
import org.apache.spark.sql.{DataFrame, Dataset, Encoder, Encoders}

/** What a query takes in: a word and how often, with a time. */
final case class Said(word: String, times: Long, at: Timestamp)

/** A query that real-time mode runs. */
final case class RealTimeQuery(name: String, on: Dataset[Said] => DataFrame)

object RealTimeQuery {
  private implicit val strings: Encoder[String] = Encoders.STRING

  val Aggregation: RealTimeQuery =
    RealTimeQuery("aggregation", _.groupBy("word").agg(count("*"), sum("times")))

  val Windows: RealTimeQuery = RealTimeQuery(
    "aggregation by windows",
    said => {
      val late = said.withWatermark("at", "5 seconds")
      late.groupBy(window(late("at"), "10 seconds"), late("word")).agg(sum("times"))
    })

  val Deduplication: RealTimeQuery =
    RealTimeQuery("deduplication", _.dropDuplicates("word").select("word", "times"))

  val DeduplicationByTime: RealTimeQuery = RealTimeQuery(
    "deduplication by time",
    _.withWatermark("at", "5 seconds").dropDuplicates("word", "at").select("word", "at"))

  val TransformWithState: RealTimeQuery = RealTimeQuery(
    "transformWithState",
    _.groupByKey(_.word)
      .transformWithState(new Total, TimeMode.None(), OutputMode.Update())
      .toDF())

  val all: Seq[RealTimeQuery] =
    Seq(Aggregation, Windows, Deduplication, DeduplicationByTime, TransformWithState)

  def named(name: String): RealTimeQuery = all.find(_.name == name).get

  /** Events in the order of their times, none of them late, some words often and others once. */
  def events(from: Int, until: Int): Seq[Said] = (from until until).map { i =>
    Said(s"word ${if (i % 3 == 0) i else i % 17}", i % 5L, new Timestamp(i * 100L))
  }

  final class Total extends StatefulProcessor[String, Said, String] {
    @transient private var total: ValueState[Long] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
      total = getHandle.getValueState("total", Encoders.scalaLong, TTLConfig.NONE)

    override def handleInputRows(
        word: String,
        said: Iterator[Said],
        timers: TimerValues): Iterator[String] = said.map { one =>
      total.update((if (total.exists()) total.get() else 0L) + one.times)
      s"$word: ${total.get()}"
    }
  }
}
