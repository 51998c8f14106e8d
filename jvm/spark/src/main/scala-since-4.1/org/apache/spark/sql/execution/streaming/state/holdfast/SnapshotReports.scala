package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.state.{
  StateStoreConf,
  StateStoreProvider,
  StateStoreProviderId
}

/** What Spark's coordinator is told of snapshots, from Spark 4.1 on. Any thread may call. */
object SnapshotReports {

  def areWanted(conf: StateStoreConf): Boolean = conf.reportSnapshotUploadLag

  /** Tells the coordinator that a snapshot of a version exists, if there is a coordinator.
    *
    * @param millis
    *   the time now, since 1970
    */
  def send(id: StateStoreProviderId, version: Long, millis: Long): Unit =
    StateStoreProvider.coordinatorRef.foreach(_.snapshotUploaded(id, version, millis))
}
