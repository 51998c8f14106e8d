package io.holdfast.coordinator

import java.nio.file.Files

import org.apache.spark.sql.execution.streaming.state.StateStoreCommitValidationFailed
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.{CoordinatedStores, Stores}

/** What stores tell Spark's coordinator, and do at its word. */
class CoordinatorSuite extends CoordinatedStores {

  // Only the coordinator asks for snapshots.
  override protected def settings: Map[String, Any] = Map(
    SQLConf.STREAMING_MAINTENANCE_INTERVAL.key -> "1h",
    SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key -> 3,
    SQLConf.STATE_STORE_COORDINATOR_MULTIPLIER_FOR_MIN_VERSION_DIFF_TO_LOG.key -> 1)

  private def commit(stores: Stores, versions: Range): Unit = {
    versions.foreach(version => stores.commit(version.toLong, s"k$version" -> version))
    stores.awaitSnapshots()
  }

  private def hasSnapshot(stores: Stores, version: Long): Boolean =
    Files.exists(stores.folder.resolve(s"$version.snapshot"))

  test("a store whose snapshots lag behind writes one with its next commit, and says so") {
    stores =>
      commit(stores, 0 until 3)
      stores.coordinator.findLagging(stores.id.queryRunId, 3)
      commit(stores, 3 until 4)
      assert(!hasSnapshot(stores, 4))
      assert(stores.coordinator.snapshotOf(stores.id).isEmpty)

      stores.coordinator.findLagging(stores.id.queryRunId, 4)
      commit(stores, 4 until 5)
      assert(hasSnapshot(stores, 5))
      assert(stores.coordinator.snapshotOf(stores.id).contains(5L))

      stores.coordinator.findLagging(stores.id.queryRunId, 5)
      commit(stores, 5 until 6)
      assert(!hasSnapshot(stores, 6))
  }

  test("a store that is loaded again says which snapshot it was loaded from") { stores =>
    commit(stores, 0 until 4)
    stores.coordinator.findLagging(stores.id.queryRunId, 4)
    commit(stores, 4 until 5)
    stores.coordinator.findLagging(stores.id.queryRunId, 5)
    commit(stores, 5 until 6)
    val other = stores.inAnotherRun()
    assert(other.content(6).size == 6)
    assert(stores.coordinator.snapshotOf(other.id).contains(5L))
  }

  test("a commit is reported, so that a batch in which it is missing is not taken for complete") {
    stores =>
      val run = stores.id.queryRunId
      stores.coordinator.expectCommits(run, 0, "default" -> 1)
      stores.commit(0, "a" -> 1)
      stores.coordinator.validateCommits(run, 0)

      stores.coordinator.expectCommits(run, 1, "default" -> 1)
      val aborted = stores.write(1)
      stores.put(aborted, "a", 2)
      aborted.abort()
      intercept[StateStoreCommitValidationFailed](stores.coordinator.validateCommits(run, 1))
  }

  test("the coordinator knows where a store is loaded, to send the next task there") { stores =>
    stores.commit(0, "a" -> 1)
    assert(stores.coordinator.locationOf(stores.id).nonEmpty)
  }
}
