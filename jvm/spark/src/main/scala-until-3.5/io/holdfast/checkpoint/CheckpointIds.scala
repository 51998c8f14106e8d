package io.holdfast.checkpoint

import org.apache.spark.sql.execution.streaming.state.StateStoreConf

/** Whether attempts at a version have ids: not before Spark 4.0. */
private[holdfast] object CheckpointIds {
  def areGiven(conf: StateStoreConf): Boolean = false
}
