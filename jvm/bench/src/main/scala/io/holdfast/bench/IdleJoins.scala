package io.holdfast.bench

/** What a side of a stream-stream join costs in a batch in which nothing expires: the search for
  * expired rows, from the moment in which the operator asks the store of its keys for them until it
  * has seen all, with the values that it looks up meanwhile. All tasks are added up.
  *
  * A batch has one event, which is there already. Numbers are medians.
  *
  * Arguments: provider, query (join and joinByKey have one row for each key, joinOfGroups and
  * joinOfGroupsByKey twenty), rows, batches, partitions; warmUp (seconds), warmUpBatches (at least).
  */
object IdleJoins {
  private val Sides = 2

  def measure(arguments: Arguments): Numbers = RunningQuery.inSession(arguments) {
    (spark, folder) =>
      val query = new RunningQuery(
        spark,
        TimedStateStoreProvider.of(arguments.peer),
        arguments.text("query"),
        arguments.long("rows"),
        changes = 0L,
        folder.resolve("query"))
      query.load()
      Collections.settle()
      WarmUp(arguments.int("warmUp", 30), atLeast = arguments.int("warmUpBatches", 10)) {
        val _ = Batch.idle(query)
      }
      val batches = (1 to arguments.int("batches")).map(_ => Batch.idle(query))
      def median(value: Batch => Double): Double = batches.map(value).sorted.apply(batches.size / 2)
      Seq(
        "sideMillis" -> median(_.walkMillis) / Sides,
        "batchMillis" -> median(_.millis),
        "storeMillis" -> median(_.storeMillis),
        "removedRows" -> batches.map(_.removed).sum,
        "lookedAtRows" -> median(_.lookedAt),
        "stateRows" -> batches.last.stateRows)
  }
}
