package io.holdfast.eviction

import org.apache.spark.sql.functions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{GroupState, GroupStateTimeout, OutputMode}
import org.apache.spark.sql.{DataFrame, Dataset, Encoder, Encoders}

/** A query whose operators remove rows when their time has come, or might be thought to.
  *
  * @param hinted
  *   whether each of its operators knows what it will remove
  * @param settings
  *   Spark settings for it alone
  * @param byClock
  *   whether its state has times of the clock, which differ from run to run
  */
final case class EvictionQuery(
    name: String,
    mode: String,
    hinted: Boolean = true,
    settings: Map[String, String] = Map.empty,
    byClock: Boolean = false)(val on: Dataset[Sighting] => DataFrame) {

  override def toString: String = {
    val set = settings.map { case (setting, value) =>
      s", ${setting.split('.').takeRight(2).mkString(".")} $value"
    }
    s"$name in $mode mode${set.mkString}"
  }
}

object EvictionQuery {
  import GroupStateTimeout.{EventTimeTimeout, NoTimeout, ProcessingTimeTimeout}

  private implicit val names: Encoder[String] = Encoders.STRING
  private implicit val counts: Encoder[Count] = Encoders.product
  private implicit val totals: Encoder[Total] = Encoders.product

  private val aggregation1 = Map(SQLConf.STREAMING_AGGREGATION_STATE_FORMAT_VERSION.key -> "1")
  private val groups1 = Map(SQLConf.FLATMAPGROUPSWITHSTATE_STATE_FORMAT_VERSION.key -> "1")
  private val join1 = Map(SQLConf.STREAMING_JOIN_STATE_FORMAT_VERSION.key -> "1")
  private val mergedSessions =
    Map(SQLConf.STREAMING_SESSION_WINDOW_MERGE_SESSIONS_IN_LOCAL_PARTITION.key -> "true")

  private def timed(rows: Dataset[Sighting]): DataFrame =
    rows.toDF().withWatermark("at", "10 seconds")

  private def side(rows: Dataset[Sighting], number: Int, prefix: String): DataFrame =
    timed(rows)
      .where(col("side") === number)
      .select(
        col("name").as(s"${prefix}Name"),
        col("at").as(s"${prefix}At"),
        col("amount").as(s"${prefix}Amount"))

  private val windows: Dataset[Sighting] => DataFrame =
    timed(_).groupBy(window(col("at"), "15 seconds"), col("name")).agg(count("*"), sum("amount"))

  private val slidingWindows: Dataset[Sighting] => DataFrame =
    timed(_).groupBy(window(col("at"), "30 seconds", "5 seconds")).agg(count("*"), max("name"))

  private val byTime: Dataset[Sighting] => DataFrame =
    timed(_).groupBy("name", "at").agg(max("amount"))

  private val distinct: Dataset[Sighting] => DataFrame = timed(_).dropDuplicates("name", "at")

  private val distinctWindows: Dataset[Sighting] => DataFrame =
    timed(_).select(window(col("at"), "5 seconds").as("span"), col("name")).dropDuplicates()

  private val distinctNames: Dataset[Sighting] => DataFrame = timed(_).dropDuplicates("name")

  // A time that is null expires never, and `dropDuplicatesWithinWatermark` does not take it.
  private val distinctForAWhile: Dataset[Sighting] => DataFrame =
    rows => timed(rows).where("at is not null").dropDuplicatesWithinWatermark("name", "amount")

  private val sessions: Dataset[Sighting] => DataFrame =
    timed(_).groupBy(session_window(col("at"), "3 seconds"), col("name")).agg(sum("amount"))

  private val near =
    expr("lName = rName and lAt >= rAt - interval 12 seconds and lAt <= rAt + interval 5 seconds")

  private def joined(kind: String)(rows: Dataset[Sighting]): DataFrame =
    side(rows, 0, "l").join(side(rows, 1, "r"), near, kind)

  private def joinedByTime(kind: String)(rows: Dataset[Sighting]): DataFrame =
    side(rows, 0, "l").join(side(rows, 1, "r"), expr("lAt = rAt and lName = rName"), kind)

  private def joinedByWindow(rows: Dataset[Sighting]): DataFrame = {
    def spans(number: Int, prefix: String) =
      side(rows, number, prefix).withColumn("span", window(col(s"${prefix}At"), "10 seconds"))
    spans(0, "l").drop("lAt").join(spans(1, "r").drop("rAt"), "span")
  }

  private val windowsOfDistinct: Dataset[Sighting] => DataFrame =
    distinct(_).groupBy(window(col("at"), "15 seconds")).agg(count("*"))

  private val windowsOfWindows: Dataset[Sighting] => DataFrame = rows =>
    timed(rows)
      .groupBy(window(col("at"), "5 seconds"), col("name"))
      .agg(sum("amount").as("sum"))
      .groupBy(window(window_time(col("window")), "20 seconds"))
      .agg(max("sum"))

  private val windowsOfJoin: Dataset[Sighting] => DataFrame =
    joined("left_outer")(_).groupBy(window(col("lAt"), "20 seconds")).agg(count("rName"))

  // A name that comes in every batch never times out by the clock.
  private def talliedByClock(rows: Dataset[Sighting]): DataFrame =
    tallied(ProcessingTimeTimeout, OutputMode.Update())(rows.where("amount % 10 = 1"))

  private def tallied(timeout: GroupStateTimeout, mode: OutputMode)(
      rows: Dataset[Sighting]): DataFrame =
    rows
      .withWatermark("at", "10 seconds")
      .groupByKey(_.name)
      .flatMapGroupsWithState(mode, timeout)(tally(timeout))
      .toDF()

  /** Of a name that has timed out its total is said; in between its time is put off, or left alone. */
  private def tally(timeout: GroupStateTimeout)(
      name: String,
      rows: Iterator[Sighting],
      state: GroupState[Count]): Iterator[Total] =
    if (state.hasTimedOut) {
      val total = Total(name, state.get.sum)
      state.remove()
      Iterator(total)
    } else {
      val amounts = rows.map(_.amount).toSeq
      state.update(Count(state.getOption.fold(0L)(_.sum) + amounts.sum))
      if (amounts.sum % 3 != 0) {
        if (timeout == EventTimeTimeout)
          state.setTimeoutTimestamp(math.max(state.getCurrentWatermarkMs(), 0L) + 15000L)
        if (timeout == ProcessingTimeTimeout) state.setTimeoutDuration(1L)
      }
      Iterator.empty
    }

  // In format 1 a timeout is a long in a column of integers, for which Spark's check takes no time of
  // the clock.
  private val unvalidated = Map(SQLConf.STATE_STORE_FORMAT_VALIDATION_ENABLED.key -> "false")

  // Batches that only look for timeouts would never end.
  private val noEmptyBatches = Map(SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED.key -> "false")

  val all: Seq[EvictionQuery] = Seq(
    EvictionQuery("windows", "append")(windows),
    EvictionQuery("windows", "append", settings = aggregation1)(windows),
    EvictionQuery("windows", "update")(windows),
    EvictionQuery("windows", "update", settings = aggregation1)(windows),
    EvictionQuery("windows", "complete", hinted = false)(windows),
    EvictionQuery("sliding windows", "append")(slidingWindows),
    EvictionQuery("sliding windows", "update")(slidingWindows),
    EvictionQuery("groups by time", "append")(byTime),
    EvictionQuery("groups by time", "update")(byTime),
    EvictionQuery("deduplication", "append")(distinct),
    EvictionQuery("deduplication", "update")(distinct),
    EvictionQuery("deduplication of windows", "append")(distinctWindows),
    EvictionQuery("deduplication without time", "append", hinted = false)(distinctNames),
    EvictionQuery("deduplication within watermark", "append")(distinctForAWhile),
    EvictionQuery("sessions", "append")(sessions),
    EvictionQuery("sessions", "append", settings = mergedSessions)(sessions),
    EvictionQuery("sessions", "complete", hinted = false)(sessions),
    EvictionQuery("inner join", "append")(joined("inner")),
    EvictionQuery("inner join", "append", settings = join1)(joined("inner")),
    EvictionQuery("left outer join", "append")(joined("left_outer")),
    EvictionQuery("right outer join", "append")(joined("right_outer")),
    EvictionQuery("full outer join", "append")(joined("full_outer")),
    EvictionQuery("left semi join", "append")(joined("left_semi")),
    EvictionQuery("inner join by time", "append")(joinedByTime("inner")),
    EvictionQuery("inner join by time", "append", settings = join1)(joinedByTime("inner")),
    EvictionQuery("left outer join by time", "append")(joinedByTime("left_outer")),
    EvictionQuery("full outer join by time", "append")(joinedByTime("full_outer")),
    EvictionQuery("inner join by window", "append")(joinedByWindow),
    EvictionQuery("windows of deduplication", "append")(windowsOfDistinct),
    EvictionQuery("windows of windows", "append")(windowsOfWindows),
    EvictionQuery("windows of a join", "append")(windowsOfJoin),
    EvictionQuery("groups with event time", "append")(
      tallied(EventTimeTimeout, OutputMode.Append())),
    EvictionQuery("groups with event time", "update")(
      tallied(EventTimeTimeout, OutputMode.Update())),
    EvictionQuery("groups with event time", "append", settings = groups1)(
      tallied(EventTimeTimeout, OutputMode.Append())),
    EvictionQuery("groups with clock time", "update", settings = noEmptyBatches, byClock = true)(
      talliedByClock),
    EvictionQuery(
      "groups with clock time",
      "update",
      settings = noEmptyBatches ++ groups1 ++ unvalidated,
      byClock = true)(talliedByClock),
    EvictionQuery("groups without timeouts", "update", hinted = false)(
      tallied(NoTimeout, OutputMode.Update())))
}

final case class Count(sum: Long)

final case class Total(name: String, sum: Long)
