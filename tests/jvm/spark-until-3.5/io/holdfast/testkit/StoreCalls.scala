package io.holdfast.testkit

import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  StateStoreProvider
}

/** The calls by which Spark 3.5 gets stores from a provider, and gives them back. */
object StoreCalls {

  def write(provider: StateStoreProvider, version: Long, forceSnapshot: Boolean): StateStore =
    if (forceSnapshot) ForcedSnapshot.write(provider, version) else provider.getStore(version)

  def read(provider: StateStoreProvider, version: Long): ReadStateStore =
    provider.getReadStore(version)

  def upgrade(provider: StateStoreProvider, read: ReadStateStore, version: Long): StateStore = {
    read.abort()
    provider.getStore(version)
  }

  def end(store: ReadStateStore): Unit = store.abort()
}
