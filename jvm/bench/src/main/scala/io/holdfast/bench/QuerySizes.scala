package io.holdfast.bench

import java.util.SplittableRandom

/** A query on states of several sizes and on a store that keeps nothing, all in one JVM: in
  * every round a batch of each, in an order of its own. So neither the machine's noise nor what one
  * batch leaves in the processor's caches falls on one size more than on the others, and they can be
  * compared with each other and with what the query costs without its state.
  *
  * Numbers are means of the middle half: progress counts whole milliseconds, of which medians are.
  *
  * Arguments: provider, sizes (`10000,1000000`), changes, batches, partitions; query (aggregation if
  * it is not given, see [[QueryInput]]), warmUp (seconds) and warmUpBatches (at least).
  */
object QuerySizes {

  def measure(arguments: Arguments): Numbers = RunningQuery.inSession(arguments) {
    (spark, folder) =>
      def query(peer: Peer, rows: Long, name: String) = new RunningQuery(
        spark,
        peer,
        arguments.text("query", "aggregation"),
        rows,
        arguments.long("changes"),
        folder.resolve(name))
      val sizes = arguments.text("sizes").split(',').map(_.toLong).toSeq
      val timed = TimedStateStoreProvider.of(arguments.peer)
      val floor = query(Peer.named("floor"), sizes.max, "floor")
      val queries = sizes.map(rows => query(timed, rows, s"$rows-rows"))
      floor.loadLast()
      val loading = new Times
      loading.time(queries.foreach(_.load()))
      val random = new SplittableRandom(42L)
      def round(): Seq[Batch] = inRandomOrder(floor +: queries, random)(Batch.of)
      Collections.settle()
      WarmUp(arguments.int("warmUp", 60), atLeast = arguments.int("warmUpBatches", 10)) {
        val _ = round()
      }
      val collections = new Collections
      val batches = (1 to arguments.int("batches")).map(_ => round()).transpose
      numbers(sizes, batches) ++ collections.numbers :+
        "loadSeconds" -> loading.totalMillis / 1e3
  }

  /** Does something with each of several, in a random order; results are in theirs. */
  private def inRandomOrder[A, B](all: Seq[A], random: SplittableRandom)(body: A => B): Seq[B] =
    all.indices
      .sortBy(_ => random.nextInt())
      .map(index => index -> body(all(index)))
      .sortBy { case (index, _) => index }
      .map { case (_, result) => result }

  private def numbers(sizes: Seq[Long], batches: Seq[Seq[Batch]]): Numbers = {
    val floors = batches.head.map(_.millis)
    val ofSizes = batches.tail
    val stores = ofSizes.map(batches => middleMean(batches.map(_.storeMillis)))
    Seq("floorMillis" -> middleMean(floors)) ++
      sizes.zip(ofSizes).zip(stores).flatMap { case ((rows, batches), store) =>
        val millis = batches.map(_.millis)
        Seq(
          s"batchMillisAt$rows" -> middleMean(millis),
          s"timesFloorAt$rows" -> middleMean(millis.zip(floors).map { case (batch, floor) =>
            batch / floor
          }),
          s"storeMillisAt$rows" -> store,
          s"removedRowsAt$rows" -> middleMean(batches.map(_.removed)),
          s"addedRowsAt$rows" -> middleMean(batches.map(_.added)),
          s"lookedAtRowsAt$rows" -> middleMean(batches.map(_.lookedAt)),
          s"stateRowsAt$rows" -> batches.last.stateRows)
      } :+
      "storeTimesSmallest" -> stores.last / stores.head
  }

  /** Mean of what lies between the quartiles. */
  private def middleMean(values: Seq[Double]): Double = {
    val quarter = values.size / 4
    val middle = values.sorted.slice(quarter, values.size - quarter)
    middle.sum / middle.size
  }
}
