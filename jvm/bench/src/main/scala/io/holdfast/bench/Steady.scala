package io.holdfast.bench

/** Micro-batches one after another for some time, in the heap that the JVM was started with.
  *
  * Arguments: provider, kind, rows, changes, seconds.
  */
object Steady {
  private val MaintenanceEvery = 10

  def measure(arguments: Arguments): Numbers = {
    val rows = arguments.long("rows")
    val loaded = new LoadedStore(arguments.peer, arguments.kind, rows)
    try {
      val changes = new Changes(loaded, rows, arguments.int("changes"))
      WarmUp(seconds = 5)(changes.batch())
      val collections = new Collections
      val batches = new Times
      val start = System.nanoTime()
      val end = start + arguments.long("seconds") * 1000000000L
      var count = 0L
      while (System.nanoTime() < end) {
        batches.time(changes.batch())
        count += 1
        if (count % MaintenanceEvery == 0) loaded.provider.doMaintenance()
      }
      val mean = (System.nanoTime() - start) / 1e6 / count
      Seq("batches" -> count.toDouble, "batchWithMaintenanceMeanMillis" -> mean) ++ batches.numbers(
        "batch") ++ collections.numbers
    } finally loaded.close()
  }
}
