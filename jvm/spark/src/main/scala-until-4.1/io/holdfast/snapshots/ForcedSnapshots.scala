package io.holdfast.snapshots

import org.apache.spark.sql.execution.streaming.state.StateStoreConf

/** When Spark asks a store for a snapshot: never, before 4.2. */
private[holdfast] object ForcedSnapshots {
  def limits(conf: StateStoreConf): Option[LagLimits] = None
}
