package io.holdfast

import org.apache.spark.sql.execution.streaming.state.StateStore

import io.holdfast.store.StoreParts
import io.holdfast.versions.{StartingVersion, StoreUsage}

/** The stores of a [[SnapshotIteratingProvider]]. */
private[holdfast] object SnapshotIteratingStores {
  def of(start: StartingVersion, usage: StoreUsage, store: StoreParts): StateStore =
    new IteratesAsRocksDBStateStore(start, usage, store)
}
