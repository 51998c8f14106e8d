package io.holdfast.bench

/** Heap bytes for each row of a store, after full collections, beside what the provider reports. The
  * provider holds `versions` versions, between which all rows were rewritten. Providers that keep
  * rows outside the heap show little here.
  *
  * Arguments: provider, kind, rows, versions.
  */
object Footprint {

  def measure(arguments: Arguments): Numbers = {
    val rows = arguments.long("rows")
    val versions = arguments.int("versions")
    // What Spark, Hadoop and the provider load once is no part of a store.
    new LoadedStore(arguments.peer, arguments.kind, 1000L).close()
    val before = Collections.usedBytes()
    val loaded = new LoadedStore(
      arguments.peer.set("spark.sql.streaming.maxBatchesToRetainInMemory" -> s"$versions"),
      arguments.kind,
      rows)
    try {
      (2 to versions + 1).foreach { _ =>
        loaded.commit { store =>
          var row = 0L
          while (row < rows) {
            store.put(loaded.kind.key(row), loaded.kind.value(row))
            row += 1
          }
        }
      }
      val used = Collections.usedBytes() - before
      val open = loaded.open()
      val reported = open.metrics.memoryUsedBytes
      open.abort()
      val raw = loaded.kind.key(0).getSizeInBytes + loaded.kind.value(0).getSizeInBytes
      Seq(
        "heapBytesPerRow" -> used.toDouble / rows,
        "reportedBytesPerRow" -> reported.toDouble / rows,
        "rawBytesPerRow" -> raw.toDouble)
    } finally loaded.close()
  }
}
