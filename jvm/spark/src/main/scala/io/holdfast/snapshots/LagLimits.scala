package io.holdfast.snapshots

import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.internal.SQLConf

/** When Spark's coordinator takes the snapshots of a store for late, and has it write one with its next
  * commit (`StateStoreCoordinator.findLaggingStores`, Spark 4.2 and 4.3): when the last one that was
  * reported is more than so many versions and more than so much time ago. A store that has reported
  * none is late as soon as it has so many versions.
  *
  * @param versions
  *   `multiplierForMinVersionDiffToLog` times `minDeltasForSnapshot`; 50 by default
  * @param millis
  *   `multiplierForMinTimeDiffToLog` times `maintenanceInterval`; ten minutes by default
  */
final private[holdfast] case class LagLimits(versions: Long, millis: Long)

private[holdfast] object LagLimits {

  /** The limits of a store, or nothing if the coordinator asks for no snapshots. */
  def apply(conf: StateStoreConf): Option[LagLimits] = {
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
