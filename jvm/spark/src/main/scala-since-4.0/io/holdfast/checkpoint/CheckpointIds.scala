package io.holdfast.checkpoint

import org.apache.spark.sql.execution.streaming.state.StateStoreConf

/** Whether attempts at a version have ids: checkpoint format 2, which Spark has from 4.0 on. */
private[holdfast] object CheckpointIds {
  def areGiven(conf: StateStoreConf): Boolean = conf.enableStateStoreCheckpointIds
}
