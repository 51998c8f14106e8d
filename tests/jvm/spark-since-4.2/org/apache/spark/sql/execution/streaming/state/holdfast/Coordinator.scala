package org.apache.spark.sql.execution.streaming.state.holdfast

import java.util.UUID

import org.apache.spark.SparkException
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCoordinatorRef,
  StateStoreProviderId
}

/** What tests ask Spark's coordinator of state stores, which it answers to Spark's own packages only.
  * Any thread may call.
  */
final class Coordinator(ref: StateStoreCoordinatorRef) {

  /** Where a store is loaded. */
  def locationOf(store: StateStoreProviderId): Option[String] = ref.getLocation(store)

  /** The newest snapshot that was reported. */
  def snapshotOf(store: StateStoreProviderId): Option[Long] =
    ref.getLatestSnapshotVersionForTesting(store)

  /** Looks for stores whose snapshots lag behind a version, as a query does after a batch. Such a
    * store is told to write one at its next commit.
    */
  def findLagging(run: UUID, version: Long): Unit = {
    val _ = ref.logLaggingStateStores(run, version, true)
  }

  /** Expects that stores of some names commit in this many partitions of operator 0. */
  def expectCommits(run: UUID, batch: Long, partitions: (String, Int)*): Unit =
    ref.startStateStoreCommitTrackingForBatch(run, batch, Map(0L -> partitions.toMap))

  /** @throws org.apache.spark.sql.execution.streaming.state.StateStoreCommitValidationFailed
    *   if a store that was expected to commit has not said so
    */
  def validateCommits(run: UUID, batch: Long): Unit =
    try ref.validateStateStoreCommitForBatch(run, batch)
    catch {
      // What a call to another endpoint throws arrives wrapped.
      case e: SparkException if e.getCause != null => throw e.getCause
    }
}
