package io.holdfast.versions

import scala.util.control.NonFatal

import org.apache.spark.sql.execution.streaming.state.{AutoSnapshotLoader, StateStoreConf}
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.checkpoint.VersionId
import io.holdfast.memory.MemoryLimitException

/** Which snapshot a version is rebuilt from: the newest, and with
  * `spark.sql.streaming.stateStore.autoSnapshotRepair.enabled`, which Spark has from 4.2 on, one before
  * it if that cannot be read. Any thread may call.
  *
  * @param store
  *   the store in messages
  */
final private[versions] class SnapshotChoice(conf: StateStoreConf, store: String) {

  // Spark's default is meant for snapshots every few versions. Unless the user set a limit, a long
  // repair is better than none.
  private val maxRepairDeltas =
    if (conf.sqlConfs.contains(SQLConf.STATE_STORE_AUTO_SNAPSHOT_REPAIR_MAX_CHANGE_FILE_REPLAY.key))
      conf.autoSnapshotRepairMaxChangeFileReplay
    else Int.MaxValue

  /** Reads a snapshot.
    *
    * @param version
    *   the version that is rebuilt
    * @param snapshots
    *   those that it can be rebuilt from
    * @param read
    *   reads one, or takes version 0 for what it is; fails if it cannot be read
    * @throws io.holdfast.memory.MemoryLimitException
    *   as `read` does: an older snapshot needs the memory as well, and none of them is damaged
    */
  def load(version: Long, snapshots: => Seq[VersionId])(read: VersionId => Unit): LoadedBase = {
    var refused = Option.empty[MemoryLimitException]
    val loader = new AutoSnapshotLoader(
      conf.autoSnapshotRepairEnabled,
      conf.autoSnapshotRepairNumFailuresBeforeActivating,
      maxRepairDeltas,
      store) {

      override protected def beforeLoad(): Unit = ()

      override protected def loadSnapshotFromCheckpoint(number: Long, id: Option[String]): Unit =
        refused match {
          case Some(e) => throw e
          case None =>
            try read(VersionId(number, id))
            catch {
              case e: MemoryLimitException =>
                refused = Some(e)
                throw e
            }
        }

      override protected def onLoadSnapshotFromCheckpointFailure(): Unit = ()

      override protected def getEligibleSnapshots(upTo: Long): Seq[(Long, Option[String])] =
        snapshots.map(found => found.number -> found.id)
    }
    try {
      val (snapshot, repaired) = loader.loadSnapshot(version)
      LoadedBase(snapshot, repaired)
    } catch {
      case NonFatal(e) => throw refused.getOrElse(e)
    }
  }
}

private[holdfast] object SnapshotChoice {

  /** How many deltas a rebuild reads at most when the newest snapshot cannot be read. */
  def maxDeltas(conf: StateStoreConf): Int = conf.autoSnapshotRepairMaxChangeFileReplay
}
