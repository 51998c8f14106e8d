package io.holdfast.python

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  ReadStateStore,
  StateStoreProvider,
  StateStoreProviderId
}

/** The provider of a store that Python describes, as Spark makes it from 4.0 on. */
private[holdfast] object DescribedProvider {

  def open(store: DescribedStore, hadoopConf: Configuration): StateStoreProvider = {
    val encoder =
      if (store.prefixColumns > 0) PrefixKeyScanStateEncoderSpec(store.key, store.prefixColumns)
      else NoPrefixKeyStateEncoderSpec(store.key)
    StateStoreProvider.createAndInit(
      StateStoreProviderId(store.id, UUID.randomUUID()),
      store.key,
      store.value,
      encoder,
      useColumnFamilies = false,
      store.conf,
      hadoopConf,
      useMultipleValuesPerKey = false,
      stateSchemaProvider = None)
  }

  def read(provider: StateStoreProvider, version: Long): ReadStateStore =
    provider.getReadStore(version, None)
}
