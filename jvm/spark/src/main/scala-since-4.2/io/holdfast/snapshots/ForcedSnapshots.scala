package io.holdfast.snapshots

import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.internal.SQLConf

/** When Spark's coordinator asks a store for a snapshot (`StateStoreCoordinator.findLaggingStores`,
  * Spark 4.2 and 4.3).
  */
private[holdfast] object ForcedSnapshots {

  /** The limits of a store, or nothing if the coordinator asks for no snapshots. */
  def limits(conf: StateStoreConf): Option[LagLimits] = {
    val settings = new SQLConf
    conf.sqlConfs.foreach { case (name, value) => settings.setConfString(name, value) }
    Option.when(
      conf.reportSnapshotUploadLag &&
        settings.getConf(SQLConf.STATE_STORE_FORCE_SNAPSHOT_UPLOAD_ON_LAG))(
      LagLimits(
        settings.stateStoreCoordinatorMultiplierForMinVersionDiffToLog *
          settings.stateStoreMinDeltasForSnapshot,
        settings.stateStoreCoordinatorMultiplierForMinTimeDiffToLog *
          settings.streamingMaintenanceInterval))
  }
}
