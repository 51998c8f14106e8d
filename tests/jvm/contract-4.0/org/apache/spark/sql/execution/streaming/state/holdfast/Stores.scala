package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.state.StateStore

object Stores {

  /** Closes all stores, after their maintenance. `StateStore.stop` alone waits for maintenance with
    * the lock that it needs to close a store, for minutes; Spark 4.0 has no way around it.
    */
  def stop(): Unit = {
    running[StateStore.MaintenanceTask]("maintenanceTask").foreach(_.stop())
    running[StateStore.MaintenanceThreadPool]("maintenanceThreadPool").foreach(_.stop())
    StateStore.stop()
  }

  private def running[A](what: String): Option[A] = {
    val method = StateStore.getClass.getDeclaredMethod(what)
    method.setAccessible(true)
    Option(method.invoke(StateStore).asInstanceOf[A])
  }
}
