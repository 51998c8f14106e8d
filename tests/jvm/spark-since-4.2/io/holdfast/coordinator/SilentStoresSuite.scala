package io.holdfast.coordinator

import java.nio.file.Files

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreCommitValidationFailed}
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.CoordinatedStores

/** Stores that are set not to report to Spark's coordinator. */
class SilentStoresSuite extends CoordinatedStores {

  override protected def settings: Map[String, Any] = Map(
    SQLConf.STREAMING_MAINTENANCE_INTERVAL.key -> "1h",
    SQLConf.STATE_STORE_COORDINATOR_REPORT_SNAPSHOT_UPLOAD_LAG.key -> false,
    SQLConf.STATE_STORE_FORCE_SNAPSHOT_UPLOAD_ON_LAG.key -> false,
    SQLConf.STATE_STORE_COMMIT_VALIDATION_ENABLED.key -> false,
    SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key -> 1)

  test("neither snapshots nor commits are reported") { stores =>
    (0L until 3L).foreach(version => stores.commit(version, "a" -> 1))
    stores.coordinator.expectCommits(stores.id.queryRunId, 3, "default" -> 1)
    stores.commit(3, "a" -> 2)
    StateStore.doMaintenanceAndUnload(stores.id)
    assert(Files.exists(stores.folder.resolve("4.snapshot")))
    assert(stores.content(4) == Map("a" -> 2))

    assert(stores.coordinator.snapshotOf(stores.id).isEmpty)
    intercept[StateStoreCommitValidationFailed] {
      stores.coordinator.validateCommits(stores.id.queryRunId, 3)
    }
  }
}
