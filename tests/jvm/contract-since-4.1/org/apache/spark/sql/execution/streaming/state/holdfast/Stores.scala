package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.state.StateStore

object Stores {

  /** Closes all stores, after their maintenance. `StateStore.stop` alone waits for maintenance with
    * the lock that it needs to close a store, for minutes.
    */
  def stop(): Unit = {
    StateStore.stopMaintenanceTaskWithoutLock()
    StateStore.stop()
  }
}
