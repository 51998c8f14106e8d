package io.holdfast.bench

import java.util.SplittableRandom

import org.apache.spark.sql.execution.streaming.state.StateStore

/** The workload of Spark's own benchmark of state stores (`StateStoreBasicOperationsBenchmark`, Spark
  * 4.2): a store of `rows` small rows, and batches that overwrite, remove or evict a part of them.
  * Times are whole batches, commit included, in microseconds.
  *
  * Arguments: provider, rows.
  */
object SparkWorkload {
  private val WarmUp = 15
  private val Rounds = 15
  private val Shares = Seq(0, 10, 50, 100)

  def measure(arguments: Arguments): Numbers = {
    val rows = arguments.int("rows")
    val loaded = new LoadedStore(arguments.peer, RowKind.named("small"), rows.toLong)
    try {
      val batches: Seq[(String, Int => StateStore => Unit)] = Seq(
        "put" -> (share => store => put(loaded, store, rows, share)),
        "remove" -> (share => store => remove(loaded, store, rows, share)),
        "evict" -> (share => store => evict(store, share)))
      for ((name, batch) <- batches; share <- Shares)
        yield s"$name${share}PercentMicros" -> median(loaded, batch(share))
    } finally loaded.close()
  }

  /** Every batch starts from the same version and is committed as the same next one. */
  private def median(loaded: LoadedStore, change: StateStore => Unit): Double = {
    val times = (1 to WarmUp + Rounds).map { _ =>
      val start = System.nanoTime()
      val store = loaded.open()
      change(store)
      store.commit()
      System.nanoTime() - start
    }
    times.drop(WarmUp).sorted.apply(Rounds / 2) / 1e3
  }

  // As many puts as there are rows, a share of them of keys that are there.
  private def put(loaded: LoadedStore, store: StateStore, rows: Int, share: Int): Unit = {
    val random = new SplittableRandom(42L)
    (0 until rows).foreach { i =>
      val number = if (random.nextInt(100) < share) random.nextInt(rows) else rows + i
      store.put(loaded.kind.key(number.toLong), loaded.kind.value(i.toLong))
    }
  }

  private def remove(loaded: LoadedStore, store: StateStore, rows: Int, share: Int): Unit =
    (0 until rows * share / 100).foreach(i => store.remove(loaded.kind.key(i.toLong)))

  // Looks at every row and removes those that are due, as watermarks do.
  private def evict(store: StateStore, share: Int): Unit = {
    val rows = store.iterator()
    while (rows.hasNext) {
      val pair = rows.next()
      if (pair.value.getLong(0) % 100 < share) store.remove(pair.key)
    }
    rows.close()
  }
}
