package io.holdfast.metrics

import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCustomMetric,
  StateStoreId,
  StateStoreMetrics
}

/** What a store reports to Spark after a batch. */
private[holdfast] object StoreReport {

  /** @param lastSnapshot
    *   version of the newest snapshot, which Spark before 4.1 does not ask for
    */
  def of(
      store: StateStoreId,
      keys: Long,
      memoryBytes: Long,
      custom: Map[StateStoreCustomMetric, Long],
      lastSnapshot: Long): StateStoreMetrics = StateStoreMetrics(keys, memoryBytes, custom)
}
