package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.state.StateStore

object AllStores {

  /** Closes all stores of this JVM, after their maintenance. To be called before their folders go: RocksDB
    * under maintenance ends or halts the JVM otherwise. `StateStore.stop` alone waits for maintenance
    * with the lock that it needs to close a store, for minutes.
    */
  def close(): Unit = {
    StateStore.stopMaintenanceTaskWithoutLock()
    StateStore.stop()
  }
}
