package io.holdfast.bench

import org.apache.spark.sql.execution.streaming.state.StateStoreProvider

/** What it takes to load a store from its files: a snapshot, and deltas after it.
  *
  * Arguments: provider, kind, rows (0 for no snapshot), deltas, changes (rows of each delta).
  */
object Recovery {
  private val Times = 5

  def measure(arguments: Arguments): Numbers = {
    val rows = arguments.long("rows")
    val deltas = arguments.int("deltas")
    val changes = arguments.int("changes")
    val snapshots = new Times
    val peer = arguments.peer.keepingAllFiles
    val loaded = new LoadedStore(peer.snapshotting(rows > 0), arguments.kind, rows, snapshots)
    try {
      (0 until deltas).foreach { delta =>
        loaded.commit { store =>
          var i = 0L
          while (i < changes) {
            val number = delta.toLong * changes + i
            val row = if (rows > 0) number % rows else number
            store.put(loaded.kind.key(row), loaded.kind.value(number))
            i += 1
          }
        }
      }
      loaded.provider.close()
      val loads = new Times
      (1 to Times).foreach(_ => load(loaded, peer, loads))
      loads.numbers("load") ++ (if (rows > 0) snapshots.numbers("snapshot") else Nil)
    } finally loaded.close()
  }

  private def load(loaded: LoadedStore, peer: Peer, loads: Times): Unit = {
    val fresh: StateStoreProvider = peer.open(loaded.folder, loaded.kind)
    try
      loads.time {
        val store = fresh.getStore(loaded.version)
        if (store.get(loaded.kind.key(0)) == null)
          throw new IllegalStateException("row 0 is missing")
        store.abort()
      }
    finally fresh.close()
  }
}
