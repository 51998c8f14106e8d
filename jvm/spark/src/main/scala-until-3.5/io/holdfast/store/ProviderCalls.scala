package io.holdfast.store

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  StateStoreConf,
  StateStoreId
}
import org.apache.spark.sql.types.StructType

import io.holdfast.checkpoint.VersionId
import io.holdfast.rows.PrefixOrder

/** What Spark 3.5 tells a provider, and how it asks for stores: versions have numbers alone. */
private[holdfast] trait ProviderCalls extends ProviderWork {

  override def init(
      stateStoreId: StateStoreId,
      keySchema: StructType,
      valueSchema: StructType,
      numColsPrefixKey: Int,
      storeConfs: StateStoreConf,
      hadoopConf: Configuration): Unit = {
    require(
      numColsPrefixKey == 0 || keySchema.length > numColsPrefixKey,
      s"a prefix has fewer columns than the key: numColsPrefixKey is $numColsPrefixKey, and keys " +
        s"have ${keySchema.length} columns")
    val order =
      if (numColsPrefixKey == 0) None else Some(new PrefixOrder(keySchema, numColsPrefixKey))
    begin(stateStoreId, keySchema, valueSchema, order, storeConfs, hadoopConf)
  }

  override def getStore(version: Long): StateStore =
    writable(VersionId(version, None), forceSnapshot = false)

  override def getReadStore(version: Long): ReadStateStore = readable(VersionId(version, None))
}
