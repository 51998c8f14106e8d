package io.holdfast.python

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStoreProvider,
  StateStoreProviderId
}

/** The provider of a store that Python describes, as Spark 3.5 makes it. */
private[holdfast] object DescribedProvider {

  def open(store: DescribedStore, hadoopConf: Configuration): StateStoreProvider =
    StateStoreProvider.createAndInit(
      StateStoreProviderId(store.id, UUID.randomUUID()),
      store.key,
      store.value,
      store.prefixColumns,
      store.conf,
      hadoopConf)

  def read(provider: StateStoreProvider, version: Long): ReadStateStore =
    provider.getReadStore(version)
}
