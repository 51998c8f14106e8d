package io.holdfast.snapshots

import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.checkpoint.ChainSize

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
    if (conf.sqlConfs.contains(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key)) {
      AfterDeltas(conf.minDeltasForSnapshot)
    } else WhenReplayCostsAsMuch(conf.minDeltasForSnapshot)

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
    */
  final case class WhenReplayCostsAsMuch(minDeltas: Int) extends SnapshotPolicy {
    override def isDue(chain: ChainSize): Boolean =
      chain.deltas > minDeltas &&
        (chain.deltas > MaxDeltas ||
          chain.snapshotBytes.forall(cost(1, _) <= cost(chain.deltas, chain.deltaBytes)))
  }

  // A folder of more files takes long to list, and each of them is a request to an object store.
  private val MaxDeltas = 500

  // To open a file takes as long as to read so much of one: some milliseconds.
  private val BytesPerOpen = 64L * 1024

  private def cost(files: Int, bytes: Long): Long = files * BytesPerOpen + bytes
}
