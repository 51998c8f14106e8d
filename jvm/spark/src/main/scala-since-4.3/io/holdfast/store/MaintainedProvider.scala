package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.StateStoreProvider

/** Maintenance as Spark 4.3 asks for it: snapshot and cleanup are calls of their own, which two threads
  * may make of one provider at the same time (each claims the partition for itself, and both hold the
  * lock that the trait brings along for reading); one call does both when a provider is unloaded.
  */
private[holdfast] trait MaintainedProvider extends StateStoreProvider {
  protected def snapshotMaintenance(): Unit
  protected def cleanupMaintenance(): Unit

  override def doSnapshotMaintenance(): Unit = snapshotMaintenance()

  override def doCleanupMaintenance(): Unit = cleanupMaintenance()

  override def doMaintenance(): Unit = {
    snapshotMaintenance()
    cleanupMaintenance()
  }
}
