package io.holdfast.eviction

import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StateStoreWriter

/** Spark before 4.3 has no operators for real-time mode alone. */
private[eviction] object RealTimeHints {
  def of(operator: StateStoreWriter): Map[String, EvictionHint] = Map.empty
}
