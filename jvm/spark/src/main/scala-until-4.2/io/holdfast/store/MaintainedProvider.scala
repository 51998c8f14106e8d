package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.StateStoreProvider

/** Maintenance as Spark 4.2 asks for it: one call for snapshot and cleanup. */
private[holdfast] trait MaintainedProvider extends StateStoreProvider {
  protected def snapshotMaintenance(): Unit
  protected def cleanupMaintenance(): Unit

  override def doMaintenance(): Unit = {
    snapshotMaintenance()
    cleanupMaintenance()
  }
}
