package io.holdfast.versions

import org.apache.spark.sql.execution.streaming.state.StateStoreConf

import io.holdfast.checkpoint.VersionId

/** Which snapshot a version is rebuilt from: the newest. Before 4.2 Spark has no setting that lets a
  * query go on past one that cannot be read. Any thread may call.
  *
  * @param store
  *   the store in messages
  */
final private[versions] class SnapshotChoice(conf: StateStoreConf, store: String) {

  /** Reads a snapshot.
    *
    * @param version
    *   the version that is rebuilt
    * @param snapshots
    *   those that it can be rebuilt from
    * @param read
    *   reads one, or takes version 0 for what it is; fails if it cannot be read
    */
  def load(version: Long, snapshots: => Seq[VersionId])(read: VersionId => Unit): LoadedBase = {
    val none = VersionId(0L, None)
    val newest = (none +: snapshots).maxBy(_.number)
    read(newest)
    LoadedBase(newest.number, repaired = false)
  }
}

private[holdfast] object SnapshotChoice {

  // As many as a repair of Spark 4.2 may read by default: the query may move there.
  private val MaxDeltas = 500

  /** How many deltas lie between snapshots at most, twice over. */
  def maxDeltas(conf: StateStoreConf): Int = MaxDeltas
}
