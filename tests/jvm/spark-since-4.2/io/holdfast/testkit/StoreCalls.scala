package io.holdfast.testkit

import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  StateStoreProvider
}

/** The calls by which Spark gets stores from a provider, and gives them back, from 4.2 on. */
object StoreCalls {

  def write(provider: StateStoreProvider, version: Long, forceSnapshot: Boolean): StateStore =
    provider.getStore(version, None, forceSnapshot)

  def read(provider: StateStoreProvider, version: Long): ReadStateStore =
    provider.getReadStore(version, None)

  def upgrade(
      provider: StateStoreProvider,
      read: ReadStateStore,
      version: Long,
      forceSnapshot: Boolean = false): StateStore =
    provider.upgradeReadStoreToWriteStore(read, version, None, forceSnapshot)

  def end(store: ReadStateStore): Unit = store.release()
}
