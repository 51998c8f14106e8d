package io.holdfast.bench

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.{StateOperatorProgress, StreamingQueryProgress}

/** Micro-batches of real queries, as their progress tells: state of a size, then batches of constant
  * change on it.
  *
  * The same query runs beside it on a store that keeps nothing, a batch of one after a batch of the
  * other: what disturbs the machine for a while disturbs both, so that the share of a batch that is
  * the store's can be told from noise.
  *
  * Arguments: provider, query (see [[QueryInput]]), rows, changes, batches, partitions.
  */
object Queries {
  def measure(arguments: Arguments): Numbers = RunningQuery.inSession(arguments) {
    (spark, folder) =>
      def query(peer: Peer, name: String) = new RunningQuery(
        spark,
        peer,
        arguments.text("query"),
        arguments.long("rows"),
        arguments.long("changes"),
        folder.resolve(name))
      val floor = query(Peer.named("floor"), "floor")
      val stateful = query(arguments.peer, "query")
      floor.loadLast()
      stateful.load()
      def batches(): (StreamingQueryProgress, StreamingQueryProgress) =
        (floor.batch(), stateful.batch())
      Collections.settle()
      WarmUp(seconds = 30) {
        val _ = batches()
      }
      val collections = new Collections
      val (floors, progress) = (1 to arguments.int("batches")).map(_ => batches()).unzip
      numbers(floors, progress) ++ collections.numbers
  }

  private def numbers(
      floors: Seq[StreamingQueryProgress],
      batches: Seq[StreamingQueryProgress]): Numbers = {
    val triggers = batches.map(duration("triggerExecution"))
    val floorTriggers = floors.map(duration("triggerExecution"))
    Seq(
      "batchMedianMillis" -> median(triggers),
      "floorMedianMillis" -> median(floorTriggers),
      "timesFloor" -> median(triggers.zip(floorTriggers).map { case (batch, floor) =>
        batch / floor
      }),
      "addBatchMedianMillis" -> median(batches.map(duration("addBatch"))),
      "updatesMedianMillis" -> median(batches.map(operators(_.allUpdatesTimeMs))),
      "removalsMedianMillis" -> median(batches.map(operators(_.allRemovalsTimeMs))),
      "commitMedianMillis" -> median(batches.map(operators(_.commitTimeMs))),
      "removedRows" -> median(batches.map(operators(_.numRowsRemoved))),
      "lookedAtRows" -> median(batches.map(operators(Batch.lookedAt))),
      "stateRows" -> operators(_.numRowsTotal)(batches.last),
      "stateMemoryBytes" -> operators(_.memoryUsedBytes)(batches.last))
  }

  private def median(values: Seq[Double]): Double = values.sorted.apply(values.size / 2)

  private def duration(name: String)(progress: StreamingQueryProgress): Double =
    progress.durationMs.asScala.get(name).fold(0.0)(_.toDouble)

  private def operators(value: StateOperatorProgress => Long)(
      progress: StreamingQueryProgress): Double = progress.stateOperators.map(value).sum.toDouble
}
