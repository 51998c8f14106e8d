package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreProviderId}

/** What Spark's coordinator is told of snapshots: nothing, before 4.1. Any thread may call. */
object SnapshotReports {

  def areWanted(conf: StateStoreConf): Boolean = false

  def send(id: StateStoreProviderId, version: Long, millis: Long): Unit = ()
}
