package io.holdfast.bench

import java.nio.file.Path

import org.apache.hadoop.fs.FileUtil
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}

/** A provider whose newest version holds rows 0 until `rows`, written in batches of `BatchRows`, a few
  * batches of one row after them, for which every provider has written a snapshot not long ago, and
  * maintained after the last.
  *
  * @param maintenance
  *   takes the time of that
  */
final class LoadedStore(
    val peer: Peer,
    val kind: RowKind,
    rows: Long,
    maintenance: Times = new Times) {
  val folder: Path = Peer.workFolder()
  val provider: StateStoreProvider = peer.open(folder, kind)
  private var current = 0L

  locally {
    var next = 0L
    while (next < rows) {
      val end = math.min(rows, next + LoadedStore.BatchRows)
      commit { store =>
        while (next < end) {
          store.put(kind.key(next), kind.value(next))
          next += 1
        }
      }
    }
    if (rows > 0) {
      (1 to LoadedStore.SmallBatches).foreach { _ =>
        commit(_.put(kind.key(0), kind.value(0)))
      }
    }
    maintenance.time(provider.doMaintenance())
  }

  def version: Long = current

  /** Opens the newest version for writing. */
  def open(): StateStore = provider.getStore(current)

  /** A micro-batch: open, change, commit. */
  def commit(change: StateStore => Unit): Unit = {
    val store = open()
    change(store)
    commitOpen(store)
  }

  /** Commits what [[open]] opened. */
  def commitOpen(store: StateStore): Unit = current = store.commit()

  def close(): Unit = {
    provider.close()
    FileUtil.fullyDelete(folder.toFile)
    ()
  }
}

object LoadedStore {
  private val BatchRows = 250000L
  // More than the deltas after which Spark's providers write a snapshot.
  private val SmallBatches = 12
}
