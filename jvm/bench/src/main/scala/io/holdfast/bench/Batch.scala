package io.holdfast.bench

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.{StateOperatorProgress, StreamingQueryProgress}

/** A batch of a query.
  *
  * @param millis
  *   how long it took
  * @param storeMillis
  *   how long its tasks were in calls of their stores, one added to the other
  * @param walkMillis
  *   how long they were at walks over stores, with what the operators did meanwhile
  * @param added
  *   rows of the state that were put
  * @param removed
  *   rows of the state that were removed
  * @param lookedAt
  *   rows that were read in search of those; 0 where the provider does not say
  * @param stateRows
  *   rows of the state after it
  */
final private case class Batch(
    millis: Double,
    storeMillis: Double,
    walkMillis: Double,
    added: Double,
    removed: Double,
    lookedAt: Double,
    stateRows: Double)

private object Batch {

  /** Runs a batch of changes. */
  def of(query: RunningQuery): Batch = of(query.batch())

  /** Runs a batch in which nothing expires. */
  def idle(query: RunningQuery): Batch = of(query.idle())

  private def of(run: => StreamingQueryProgress): Batch = {
    val _ = (TimedStateStoreProvider.takeNanos(), TimedStateStoreProvider.takeWalkNanos())
    val progress = run
    def sum(value: StateOperatorProgress => Long) = progress.stateOperators.map(value).sum.toDouble
    Batch(
      progress.durationMs.get("triggerExecution").toDouble,
      TimedStateStoreProvider.takeNanos() / 1e6,
      TimedStateStoreProvider.takeWalkNanos() / 1e6,
      sum(_.numRowsUpdated),
      sum(_.numRowsRemoved),
      sum(lookedAt),
      sum(_.numRowsTotal))
  }

  /** Rows that a batch of Holdfast looked at for expired ones; others do not say so. */
  def lookedAt(operator: StateOperatorProgress): Long =
    operator.customMetrics.asScala.get("holdfastLookedAtCount").fold(0L)(_.longValue)
}
