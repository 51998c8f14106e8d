package io.holdfast.eviction

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StreamingSymmetricHashJoinHelper.{
  JoinStateKeyWatermarkPredicate,
  JoinStateValueWatermarkPredicate,
  JoinStateWatermarkPredicate
}
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated._
import org.apache.spark.sql.execution.streaming.state.holdfast.{SparkInternals, StoreNames}
import org.apache.spark.sql.streaming.{GroupStateTimeout, OutputMode}

import io.holdfast.eviction.EvictionHint.{LookedInto, OwnTimes, TimesOf}
import io.holdfast.table.EventTime

/** What stateful operators look for when they walk over their stores, read from the nodes of a plan in
  * which a batch's watermarks are (Spark 4.2 and 4.3; the nodes and their `doExecute`).
  *
  * Each operator here calls `iterator` of the store that it writes once in a batch, to remove what its
  * predicate says, and evaluates the predicate on every row that it is shown. Where it walks to output
  * all rows, in complete mode, there is no hint. Nor is there one for a node of another class, be it
  * derived from one of these, for another format of state, or for a predicate of another shape.
  */
private[eviction] object OperatorHints {

  /** Hints by name of the store; none for a store that is walked over whole. */
  def of(operator: StateStoreWriter): Map[String, EvictionHint] = operator match {
    case save: StateStoreSaveExec if isJust(save, classOf[StateStoreSaveExec]) => aggregated(save)
    case dedup: StreamingDeduplicateExec if isJust(dedup, classOf[StreamingDeduplicateExec]) =>
      deduplicated(dedup)
    case dedup: StreamingDeduplicateWithinWatermarkExec
        if isJust(dedup, classOf[StreamingDeduplicateWithinWatermarkExec]) =>
      deduplicatedForAWhile(dedup)
    case save: SessionWindowStateStoreSaveExec
        if isJust(save, classOf[SessionWindowStateStoreSaveExec]) =>
      sessions(save)
    case groups: FlatMapGroupsWithStateExec
        if isJust(groups, classOf[FlatMapGroupsWithStateExec]) =>
      timeouts(groups, groups.timeoutConf, groups.batchTimestampMs, groups.stateFormatVersion)
    case groups: FlatMapGroupsInPandasWithStateExec
        if isJust(groups, classOf[FlatMapGroupsInPandasWithStateExec]) =>
      timeouts(groups, groups.timeoutConf, groups.batchTimestampMs, groups.stateFormatVersion)
    case join: StreamingSymmetricHashJoinExec
        if isJust(join, classOf[StreamingSymmetricHashJoinExec]) =>
      joined(join)
    case other => RealTimeHints.of(other)
  }

  private[eviction] def isJust(node: AnyRef, expected: Class[_]): Boolean =
    node.getClass == expected

  private def aggregated(save: StateStoreSaveExec): Map[String, EvictionHint] =
    if (!aggregationEvicts(save.stateFormatVersion, save.outputMode)) Map.empty
    else {
      store(for {
        predicate <- save.watermarkExpressionForEviction
        rows <- ExpiredRows.of(predicate)
        at <- rows.in(save.keyExpressions, inKey = true)
      } yield OwnTimes(at, rows.threshold))
    }

  // Spark 4.2 looks for the event time in the operator's input and 4.3 in its key: both have to mean
  // the same column. In 4.3 it may remove up to the watermark of late events alone, which is before
  // the one of eviction.
  private def deduplicated(dedup: StreamingDeduplicateExec): Map[String, EvictionHint] =
    byEventTimeOfKey(dedup.watermarkExpressionForEviction, dedup.keyExpressions)

  /** For an operator that looks for the event time in its key: the hint is none if what its predicate looks
    * at is another column.
    */
  private[eviction] def byEventTimeOfKey(
      eviction: Option[Expression],
      key: Seq[Attribute]): Map[String, EvictionHint] = {
    val inKey = key.filter(_.metadata.contains(EventTimeWatermark.delayKey))
    store(for {
      predicate <- eviction
      rows <- ExpiredRows.of(predicate)
      if inKey.nonEmpty && inKey.forall(_.semanticEquals(rows.column))
      at <- rows.in(key, inKey = true)
    } yield OwnTimes(at, rows.threshold))
  }

  /** Whether an aggregation of a format removes rows by its predicate, and does nothing else with them. */
  private[eviction] def aggregationEvicts(format: Int, mode: Option[OutputMode]): Boolean =
    Set(1, 2)(format) && mode.exists(Evicting)

  // The only column of a value is `expiresAtMicros`.
  private def deduplicatedForAWhile(
      dedup: StreamingDeduplicateWithinWatermarkExec): Map[String, EvictionHint] =
    store(dedup.eventTimeWatermarkForEviction.map { watermark =>
      OwnTimes(
        EventTime(inKey = false, EventTime.Column(fields = 1, ordinal = 0)),
        DateTimeUtils.millisToMicros(watermark))
    })

  private def sessions(save: SessionWindowStateStoreSaveExec): Map[String, EvictionHint] =
    if (save.stateFormatVersion != 1 || !save.outputMode.contains(OutputMode.Append())) Map.empty
    else {
      store(for {
        predicate <- save.watermarkExpressionForEviction
        rows <- ExpiredRows.of(predicate)
        at <- rows.in(save.child.output, inKey = false)
      } yield OwnTimes(at, rows.threshold))
    }

  // A group times out when its time is before the watermark or the time of the batch. In both formats
  // of its state the last column says when that is, in milliseconds.
  private def timeouts(
      groups: FlatMapGroupsWithStateExecBase,
      timeout: GroupStateTimeout,
      batchMillis: Option[Long],
      stateFormat: Int): Map[String, EvictionHint] = {
    val before =
      if (timeout == GroupStateTimeout.EventTimeTimeout) groups.eventTimeWatermarkForEviction
      else if (timeout == GroupStateTimeout.ProcessingTimeTimeout) batchMillis
      else None
    val columns = groups.stateManager.stateSchema.fieldNames
    val isKnown = Set(1, 2)(stateFormat) && columns.lastOption.contains(TimeoutColumn)
    store(for {
      millis <- before
      if isKnown && millis > Long.MinValue
    } yield {
      val column = EventTime.Column(columns.length, columns.length - 1)
      OwnTimes(
        EventTime(inKey = false, column, never = Some(SparkInternals.NoTimeoutTimestamp)),
        millis - 1L)
    })
  }

  // Both sides have a store of the number of values of each key, over which the operator walks, and
  // one of the values, whose keys are those with a number behind them.
  private def joined(join: StreamingSymmetricHashJoinExec): Map[String, EvictionHint] = {
    val predicates = join.stateWatermarkPredicates
    StoreNames.of(join) match {
      case Seq(leftKeys, leftValues, rightKeys, rightValues)
          if Set(1, 2)(join.stateFormatVersion) =>
        val marks = if (join.stateFormatVersion == 2) 1 else 0
        def side(
            predicate: Option[JoinStateWatermarkPredicate],
            keyColumns: Int,
            output: Seq[Attribute],
            keys: String,
            values: String): Map[String, EvictionHint] =
          predicate.fold(Map.empty[String, EvictionHint])(
            sideOfJoin(_, keyColumns, output, marks, keys, values))
        side(predicates.left, join.leftKeys.size, join.left.output, leftKeys, leftValues) ++
          side(predicates.right, join.rightKeys.size, join.right.output, rightKeys, rightValues)
      case _ => Map.empty
    }
  }

  // Of a side of a join Spark shows the metrics of the store of values alone.
  private def sideOfJoin(
      predicate: JoinStateWatermarkPredicate,
      keyColumns: Int,
      output: Seq[Attribute],
      marks: Int,
      keys: String,
      values: String): Map[String, EvictionHint] = {
    val hints = for {
      rows <- ExpiredRows.of(predicate.expr)
      hints <- predicate match {
        case _: JoinStateKeyWatermarkPredicate =>
          rows.inKeyOf(keyColumns).map { at =>
            Map(
              keys -> OwnTimes(at, rows.threshold, countedBy = Some(values)),
              values -> LookedInto(None))
          }
        case _: JoinStateValueWatermarkPredicate =>
          rows.in(output, inKey = false, more = marks).map { at =>
            Map(keys -> TimesOf(values, rows.threshold), values -> LookedInto(Some(at)))
          }
      }
    } yield hints
    hints.getOrElse(Map.empty)
  }

  private def store(hint: Option[EvictionHint]): Map[String, EvictionHint] =
    hint.map(StateStoreId.DEFAULT_STORE_NAME -> _).toMap

  private val Evicting = Set(OutputMode.Append(), OutputMode.Update())

  private val TimeoutColumn = "timeoutTimestamp"
}
