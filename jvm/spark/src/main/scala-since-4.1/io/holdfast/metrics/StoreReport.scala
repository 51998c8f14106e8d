package io.holdfast.metrics

import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCustomMetric,
  StateStoreId,
  StateStoreInstanceMetric,
  StateStoreMetrics,
  StateStoreSnapshotLastUploadInstanceMetric
}

/** What a store reports to Spark after a batch: from Spark 4.1 on with the version of its newest
  * snapshot.
  */
private[holdfast] object StoreReport {
  private val LastSnapshot = StateStoreSnapshotLastUploadInstanceMetric()

  val instance: Seq[StateStoreInstanceMetric] = Seq(LastSnapshot)

  /** @param lastSnapshot
    *   that version; -1 if none was written
    */
  def of(
      store: StateStoreId,
      keys: Long,
      memoryBytes: Long,
      custom: Map[StateStoreCustomMetric, Long],
      lastSnapshot: Long): StateStoreMetrics =
    StateStoreMetrics(
      keys,
      memoryBytes,
      custom,
      Map(LastSnapshot.withNewId(store.partitionId, store.storeName) -> lastSnapshot))
}
