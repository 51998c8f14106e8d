package io.holdfast

import org.apache.spark.sql.execution.streaming.state.StateStore

import io.holdfast.store.{FamilyStateStore, StoreParts}
import io.holdfast.versions.{StartingVersion, StoreUsage}

/** The stores of a [[SnapshotIteratingProvider]]. */
private[holdfast] object SnapshotIteratingStores {
  def of(start: StartingVersion, usage: StoreUsage, store: StoreParts): StateStore =
    if (store.context.families.isEmpty) new IteratesAsRocksDBStateStore(start, usage, store)
    else new FamiliesIterateAsRocksDBStateStore(start, usage, store)
}

private class FamiliesIterateAsRocksDBStateStore(
    start: StartingVersion,
    usage: StoreUsage,
    store: StoreParts)
    extends FamilyStateStore(start, usage, store) {

  override def toString: String =
    s"${getClass.getSimpleName}[id=(op=${id.operatorId},part=${id.partitionId})] ${super.toString}"
}
