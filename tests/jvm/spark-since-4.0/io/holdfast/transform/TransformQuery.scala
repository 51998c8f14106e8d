package io.holdfast.transform

import java.sql.Timestamp
import java.time.Duration

import org.apache.spark.sql.functions.{col, count, window}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.{DataFrame, Dataset, Encoder, Encoders}

import io.holdfast.query.Event
import io.holdfast.session.BuildInfo
import io.holdfast.testkit.Provider

/** A query with `transformWithState`, for [[TransformKilled]].
  *
  * @param keeps
  *   time to live of all state
  * @param closesAfter
  *   after which time without events timers close a name
  * @param initialState
  *   whether it begins with state for some names
  * @param chained
  *   whether an aggregation follows
  * @param settings
  *   Spark settings for it alone
  */
final case class TransformQuery(
    name: String,
    timeMode: TimeMode,
    keeps: Option[Duration] = None,
    closesAfter: Option[Duration] = None,
    initialState: Boolean = false,
    chained: Boolean = false,
    settings: Map[String, Any] = Map.empty) {
  import TransformQuery._

  def outputMode: OutputMode = if (chained) OutputMode.Append() else OutputMode.Update()

  /** The batch in which its driver is killed: the one that stores the initial state, if any. */
  def killedIn: Long = if (initialState) 0 else 2

  def hasTimers: Boolean = closesAfter.isDefined

  /** Whether this Spark reads its state: the `statestore` source of 4.0 asks no provider for ids. */
  def isReadable: Boolean = BuildInfo.current.sparkLine != "4.0" || settings != withIds

  def on(events: Dataset[Event]): DataFrame = {
    val named =
      events.withWatermark("at", "3 seconds").filter(_.name != null).groupByKey(_.name)
    val ledger = new Ledger(keeps, closesAfter)
    if (initialState) {
      val began = events.sparkSession.createDataset(Openings).groupByKey(_.name)
      named.transformWithState(ledger, timeMode, outputMode, began).toDF()
    } else if (chained) {
      named
        .transformWithState(new Stamped, "at", OutputMode.Append())
        .groupBy(window(col("at"), "8 seconds"), col("name"))
        .agg(count("*"))
    } else named.transformWithState(ledger, timeMode, outputMode).toDF()
  }
}

object TransformQuery {
  private implicit val names: Encoder[String] = Encoders.STRING
  private implicit val openings: Encoder[Ledger.Opening] = Encoders.product
  private implicit val stamps: Encoder[Stamp] = Encoders.product

  private val Openings = Seq(
    Ledger.Opening("name 1", 7L, Seq(7L)),
    Ledger.Opening("name 2", -7L, Seq(-7L)),
    Ledger.Opening("nobody", 6L, Seq(1L, 2L, 3L)))

  private val avro = Map(SQLConf.STREAMING_STATE_STORE_ENCODING_FORMAT.key -> "avro")

  private val withIds = Map(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> 2)

  // In batches that are an hour apart.
  private val lives = Some(Duration.ofMinutes(90))
  private val closes = Some(Duration.ofMinutes(150))
  private val closesByEvents = Some(Duration.ofSeconds(12))

  val representative: Seq[TransformQuery] = Seq(
    TransformQuery("timers of event time", TimeMode.EventTime(), closesAfter = closesByEvents),
    TransformQuery(
      "initial state, time to live and timers",
      TimeMode.ProcessingTime(),
      keeps = lives,
      closesAfter = closes,
      initialState = true),
    TransformQuery("before an aggregation", TimeMode.EventTime(), chained = true),
    TransformQuery(
      "checkpoint format 2",
      TimeMode.EventTime(),
      closesAfter = closesByEvents,
      settings = withIds))

  val others: Seq[TransformQuery] = Seq(
    TransformQuery("without times", TimeMode.None()),
    TransformQuery(
      "timers of processing time",
      TimeMode.ProcessingTime(),
      closesAfter = Some(Duration.ofMinutes(30))),
    TransformQuery("time to live", TimeMode.ProcessingTime(), keeps = lives),
    TransformQuery(
      "time to live and timers",
      TimeMode.ProcessingTime(),
      keeps = lives,
      closesAfter = closes),
    TransformQuery(
      "initial state and timers of event time",
      TimeMode.EventTime(),
      closesAfter = closesByEvents,
      initialState = true),
    TransformQuery("Avro", TimeMode.None(), settings = avro),
    TransformQuery(
      "Avro, time to live and timers",
      TimeMode.ProcessingTime(),
      keeps = lives,
      closesAfter = closes,
      settings = avro),
    TransformQuery(
      "row checksums",
      TimeMode.EventTime(),
      closesAfter = closesByEvents,
      settings = Map(Provider.RowChecksums -> true)),
    TransformQuery(
      "checkpoint format 2, initial state, time to live and timers",
      TimeMode.ProcessingTime(),
      keeps = lives,
      closesAfter = closes,
      initialState = true,
      settings = withIds))

  def named(name: String): TransformQuery =
    (representative ++ others)
      .find(_.name == name)
      .getOrElse(throw new IllegalArgumentException(s"no query is called '$name'"))
}

/** An event whose time goes on to the next operator. */
final case class Stamp(name: String, at: Timestamp)
