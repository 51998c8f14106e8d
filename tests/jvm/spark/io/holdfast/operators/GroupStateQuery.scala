package io.holdfast.operators

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{GroupStateTimeout, OutputMode}
import org.apache.spark.sql.{DataFrame, Dataset, Encoder, Encoders, KeyValueGroupedDataset}

/** A query with `mapGroupsWithState` or, in either output mode, `flatMapGroupsWithState`.
  *
  * @param flat
  *   the output mode of `flatMapGroupsWithState`
  * @param initialState
  *   whether it begins with state for some names
  * @param settings
  *   Spark settings for it alone
  */
final case class GroupStateQuery(
    timeout: GroupStateTimeout,
    flat: Option[OutputMode] = None,
    initialState: Boolean = false,
    settings: Map[String, Any] = Map.empty) {
  import GroupStateQuery._

  val name: String = {
    val operator = flat.fold("mapGroupsWithState")(mode => s"flatMapGroupsWithState in $mode mode")
    val parts = Seq(s"$operator, $timeout") ++ Option.when(initialState)("initial state") ++
      settings.map { case (setting, value) => s"${setting.split('.').last} $value" }
    parts.mkString(", ")
  }

  def outputMode: OutputMode = flat.getOrElse(OutputMode.Update)

  /** The batch in which its driver is killed: the one that stores the initial state, if any. */
  def killedIn: Long = if (initialState) 0 else 1

  def isTimedByClock: Boolean = timeout == GroupStateTimeout.ProcessingTimeTimeout

  /** Whether Spark's check of the rows that it loads takes them for what it wrote: in state format 1 a
    * timeout is a long in a column of integers.
    */
  def passesFormatValidation: Boolean =
    timeout == GroupStateTimeout.NoTimeout || !settings.toSeq.exists(stateFormat1.toSeq.contains)

  def on(events: Dataset[Event]): DataFrame = {
    val groups = events.withWatermark("at", "30 minutes").groupByKey(_.name)
    val one = Tally.by(timeout)
    val several = Tally.severalBy(timeout)
    val said = (flat, Option.when(initialState)(initial(events))) match {
      case (None, None) => groups.mapGroupsWithState(timeout)(one)
      case (None, Some(state)) => groups.mapGroupsWithState(timeout, state)(one)
      case (Some(mode), None) => groups.flatMapGroupsWithState(mode, timeout)(several)
      case (Some(mode), Some(state)) => groups.flatMapGroupsWithState(mode, timeout, state)(several)
    }
    said.toDF()
  }

  private def initial(events: Dataset[Event]): KeyValueGroupedDataset[String, Tally] =
    events.sparkSession.createDataset(initialTallies).groupByKey(_._1).mapValues(_._2)
}

object GroupStateQuery {
  import GroupStateTimeout.{EventTimeTimeout, NoTimeout, ProcessingTimeTimeout}

  private implicit val names: Encoder[String] = Encoders.STRING
  private implicit val tallies: Encoder[Tally] = Encoders.product
  private implicit val totals: Encoder[Total] = Encoders.product
  private implicit val named: Encoder[(String, Tally)] = Encoders.product

  private val initialTallies = Seq(
    "name 1" -> Tally(10, 7, Seq(7), Some("from the start")),
    "name 2" -> Tally(20, -7, Nil, None),
    "nobody" -> Tally(30, 0, Seq(1, 2, 3), Some("has no events")))

  private val stateFormat1 = Map(SQLConf.FLATMAPGROUPSWITHSTATE_STATE_FORMAT_VERSION.key -> 1)
  private val initialUnsaid =
    Map("spark.sql.streaming.flatMapGroupsWithState.skipEmittingInitialStateKeys" -> true)

  private val timeouts = Seq(NoTimeout, EventTimeTimeout, ProcessingTimeTimeout)
  private val kinds = Seq(None, Some(OutputMode.Append), Some(OutputMode.Update))

  val all: Seq[GroupStateQuery] = Seq(
    for (timeout <- timeouts; kind <- kinds) yield GroupStateQuery(timeout, kind),
    timeouts.map(GroupStateQuery(_, Some(OutputMode.Update), settings = stateFormat1)),
    timeouts.map(GroupStateQuery(_, initialState = true)),
    timeouts.map(GroupStateQuery(_, Some(OutputMode.Append), initialState = true)),
    Seq(
      GroupStateQuery(EventTimeTimeout, initialState = true, settings = stateFormat1),
      GroupStateQuery(EventTimeTimeout, initialState = true, settings = initialUnsaid))).flatten
}
