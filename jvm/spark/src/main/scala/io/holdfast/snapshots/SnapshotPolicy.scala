package io.holdfast.snapshots

import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.checkpoint.ChainSize
import io.holdfast.versions.SnapshotChoice

/** When maintenance writes a snapshot of the newest version. */
sealed private[holdfast] trait SnapshotPolicy {

  /** @param chain
    *   the files that lead to the version now
    */
  def isDue(chain: ChainSize): Boolean
}

private[holdfast] object SnapshotPolicy {

  /** The policy of a store: what the user has set, or what pays. */
  def apply(conf: StateStoreConf): SnapshotPolicy =
    if (isSetByUser(conf)) {
      AfterDeltas(conf.minDeltasForSnapshot)
    } else {
      // Half of what a repair may replay: it starts from the snapshot before the unreadable one.
      val most =
        math.max(conf.minDeltasForSnapshot + 1, SnapshotChoice.maxDeltas(conf) / 2)
      WhenReplayCostsAsMuch(conf.minDeltasForSnapshot, most)
    }

  /** Whether the user has said when snapshots are written. */
  def isSetByUser(conf: StateStoreConf): Boolean =
    conf.sqlConfs.contains(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key)

  /** As Spark's provider (`HDFSBackedStateStoreProvider.doSnapshot`, Spark 4.2): after more than so
    * many deltas, however large the state and however small the deltas.
    */
  final case class AfterDeltas(minDeltas: Int) extends SnapshotPolicy {
    override def isDue(chain: ChainSize): Boolean = chain.deltas > minDeltas
  }

  /** When to replay the deltas takes about as long as to load the snapshot that they follow. What is
    * written stays in proportion to the changes, and a rebuild takes at most about twice as long as
    * one from a snapshot alone.
    *
    * @param minDeltas
    *   no snapshot before there are more deltas than these
    * @param maxDeltas
    *   a snapshot after this many deltas, whatever it costs: a folder of more files takes long to list,
    *   each of them is a request to an object store, and `autoSnapshotRepair.maxChangeFileReplay` says
    *   how many a repair may read
    */
  final case class WhenReplayCostsAsMuch(minDeltas: Int, maxDeltas: Int) extends SnapshotPolicy {
    override def isDue(chain: ChainSize): Boolean =
      chain.deltas > minDeltas &&
        (chain.deltas >= maxDeltas ||
          chain.snapshotBytes.forall(cost(1, _) <= cost(chain.deltas, chain.deltaBytes)))
  }

  // To open a file takes as long as to read so much of one: some milliseconds.
  private val BytesPerOpen = 64L * 1024

  private def cost(files: Int, bytes: Long): Long = files * BytesPerOpen + bytes
}
