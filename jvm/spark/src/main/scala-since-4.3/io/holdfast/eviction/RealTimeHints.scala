package io.holdfast.eviction

import org.apache.spark.sql.execution.streaming.StatefulStreamlineAggregateExec
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StateStoreWriter

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
        if OperatorHints.isJust(save, classOf[StatefulStreamlineAggregateExec]) &&
          OperatorHints.aggregationEvicts(save.stateFormatVersion, save.outputMode) =>
      OperatorHints.byEventTimeOfKey(save.watermarkExpressionForEviction, save.keyExpressions)
    case _ => Map.empty
  }
}
