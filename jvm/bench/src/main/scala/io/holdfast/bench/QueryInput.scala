package io.holdfast.bench

import java.sql.Timestamp

import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.{
  GroupState,
  GroupStateTimeout,
  OutputMode,
  StatefulProcessor,
  TimeMode
}
import org.apache.spark.sql.{DataFrame, Encoder, Encoders, SparkSession}

/** The input of the queries, and the queries on it.
  *
  * A row of the stream names a range of ids, which tasks unfold, so that the driver has nothing to do
  * that grows with the batch. Ids are seconds of event time, and what is `rows` seconds old leaves the
  * state: once there are `rows` ids, as many rows go with a batch as come.
  */
final private class QueryInput(spark: SparkSession, rows: Long) {
  import QueryInput._

  private implicit val ranges: Encoder[Ids] = Encoders.product
  private implicit val timed: Encoder[(Long, Timestamp)] = Encoders.product
  private implicit val numbers: Encoder[Long] = Encoders.scalaLong
  private implicit val keyed: Encoder[Update] = Encoders.product
  private implicit val happened: Encoder[Happened] = Encoders.product
  private val stream = MemoryStream[Ids](spark)
  private var next = rows
  private var repeated = 0L

  /** Adds ids as they are. */
  def load(from: Long, until: Long): Unit = {
    stream.addData(Ids(from, until, scattered = false))
    ()
  }

  /** Adds as many ids again. */
  def change(count: Long): Unit = {
    stream.addData(Ids(next, next + count, scattered = true))
    next += count
  }

  /** Adds one of the last thousand ids before all changes again. */
  def again(): Unit = {
    val id = rows - 1 - repeated % math.min(rows, 1000L)
    load(id, id + 1)
    repeated += 1
  }

  /** A query by its name.
    *
    * @throws java.lang.IllegalArgumentException
    *   if there is none of this name
    */
  def query(name: String): DataFrame = name match {
    case "aggregation" => updates.groupBy("key").agg(count("*"), sum("id"), max("id"))
    // Here a row stays for the delay beyond the watermark, which is as much behind its event.
    case "deduplication" => events(delay = rows / 2).dropDuplicatesWithinWatermark("id")
    case "deduplicationByTime" => events().dropDuplicates("id", "time")
    case "windows" | "windowsInUpdate" =>
      events().groupBy(window(col("time"), "10 seconds"), col("id")).agg(count("*"))
    case "sessions" =>
      events().groupBy(session_window(col("time"), "10 seconds"), col("id")).count()
    case "timeouts" => timeouts
    case "join" => joined("inner", s"id = rightId and $inTime")
    case "outerJoin" => joined("left_outer", s"id = rightId and $inTime")
    case "joinByKey" => joined("inner", "id = rightId and time = rightTime")
    case "joinOfGroups" =>
      joined("inner", s"id div $GroupRows = rightId div $GroupRows and $inTime and $sameId")
    case "joinOfGroupsByKey" => joined("inner", s"time = rightTime and $sameId", GroupRows)
    case "valueState" => transformed(new CountsInValue)
    case "listState" => transformed(new LastInList)
    case "mapState" => transformed(new CountsInMap)
    case "timers" =>
      events()
        .as[Happened]
        .groupByKey(_.id)
        .transformWithState(new UntilItsTime, TimeMode.EventTime(), OutputMode.Append())
        .toDF()
    case _ =>
      throw new IllegalArgumentException(
        s"no query is named $name; there are aggregation, deduplication, deduplicationByTime, " +
          "windows, windowsInUpdate, sessions, timeouts, join, outerJoin, joinByKey, joinOfGroups, " +
          "joinOfGroupsByKey, valueState, listState, mapState, timers")
  }

  private def ids: DataFrame = stream
    .toDF()
    .select(explode(expr("sequence(from, until - 1)")).as("id"), col("scattered"))

  /** Ids, each with the key of a random row that is there. */
  private def updates: DataFrame =
    ids.select(
      col("id"),
      when(col("scattered"), pmod(xxhash64(col("id")), lit(rows))).otherwise(col("id")).as("key"))

  private def transformed(processor: StatefulProcessor[Long, Update, Long]): DataFrame = updates
    .as[Update]
    .groupByKey(_.key)
    .transformWithState(processor, TimeMode.None(), OutputMode.Update())
    .toDF()

  /** Ids, one a second.
    *
    * @param delay
    *   of the watermark, in seconds
    * @param atOnce
    *   how many after each other have the same time
    */
  private def events(delay: Long = rows, atOnce: Int = 1): DataFrame =
    ids
      .select(col("id"), expr(s"timestamp_seconds(id - id % $atOnce)").as("time"))
      .withWatermark("time", s"$delay seconds")

  /** The events joined with themselves, each with itself. */
  private def joined(kind: String, condition: String, atOnce: Int = 1): DataFrame =
    events(atOnce = atOnce).join(
      events(atOnce = atOnce).toDF("rightId", "rightTime"),
      expr(condition),
      kind)

  /** Groups of one event each, which time out when the watermark is there. */
  private def timeouts: DataFrame = events()
    .as[(Long, Timestamp)]
    .groupByKey(_._1)
    .flatMapGroupsWithState(OutputMode.Append(), GroupStateTimeout.EventTimeTimeout)(untilItsTime _)
    .toDF()
}

private object QueryInput {
  final case class Ids(from: Long, until: Long, scattered: Boolean)

  /** Rows of a key where there are many. */
  private val GroupRows = 20

  private val inTime = "time >= rightTime and time <= rightTime + interval 1 minute"

  // No equality, which would be a part of the key.
  private val sameId = "id >= rightId and id <= rightId"

  // Goes to the tasks, which cannot have the input.
  private def untilItsTime(
      id: Long,
      events: Iterator[(Long, Timestamp)],
      state: GroupState[Long]): Iterator[Long] =
    if (state.hasTimedOut) {
      state.remove()
      Iterator(id)
    } else {
      events.foreach { case (_, time) =>
        state.update(id)
        state.setTimeoutTimestamp(math.max(time.getTime, state.getCurrentWatermarkMs() + 1L))
      }
      Iterator.empty
    }
}
