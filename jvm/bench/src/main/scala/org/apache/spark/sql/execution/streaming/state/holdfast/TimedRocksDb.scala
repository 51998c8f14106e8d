package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  RocksDBStateStoreProvider,
  StateStore
}

import io.holdfast.bench.Measured
import io.holdfast.bench.TimedStateStoreProvider.{open, providersOwn}

/** Spark's RocksDB provider, timed as a `TimedStateStoreProvider` is. It is one by its class, which Spark
  * 4.3 asks for before it lets a join begin in format 4 (`MicroBatchExecution`).
  */
final class TimedRocksDb extends RocksDBStateStoreProvider with Measured {

  override def getStore(
      version: Long,
      stateStoreCkptId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean): StateStore =
    open(super.getStore(version, stateStoreCkptId, forceSnapshotOnCommit, loadEmpty))

  override def getReadStore(version: Long, uniqueId: Option[String]): StateStore =
    open(super.getReadStore(version, uniqueId))

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean): StateStore =
    open(
      super
        .upgradeReadStoreToWriteStore(
          providersOwn(readStore),
          version,
          uniqueId,
          forceSnapshotOnCommit))
}
