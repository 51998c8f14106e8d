package io.holdfast.eviction

import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.execution.streaming.StatefulStreamlineAggregateExec
import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StateStoreWriter

import io.holdfast.eviction.EvictionHint.OwnTimes

/** What the operators that real-time mode alone has look for when they walk over their stores. */
private[eviction] object RealTimeHints {

  /** As [[OperatorHints.of]].
    *
    * The aggregation walks once in a batch, as that of micro-batches does: at the end, or between the
    * rows that it takes in, where `spark.sql.streaming.state.incrementalCleanupFactor` has it remove
    * some after each. Then it goes up to the watermark of late events, which is before the one of
    * eviction. It looks for the event time in its key, so it has to be there.
    */
  def of(operator: StateStoreWriter): Map[String, EvictionHint] = operator match {
    case save: StatefulStreamlineAggregateExec
        if save.getClass == classOf[StatefulStreamlineAggregateExec] &&
          Set(1, 2)(save.stateFormatVersion) && save.outputMode.exists(OperatorHints.Evicting) =>
      val inKey = save.keyExpressions.filter(_.metadata.contains(EventTimeWatermark.delayKey))
      val hint = for {
        predicate <- save.watermarkExpressionForEviction
        rows <- ExpiredRows.of(predicate)
        if inKey.nonEmpty && inKey.forall(_.semanticEquals(rows.column))
        at <- rows.in(save.keyExpressions, inKey = true)
      } yield StateStoreId.DEFAULT_STORE_NAME -> OwnTimes(at, rows.threshold)
      hint.toMap
    case _ => Map.empty
  }
}
