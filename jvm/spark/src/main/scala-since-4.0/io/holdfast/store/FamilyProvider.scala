package io.holdfast.store

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  ReadStateStore,
  StateSchemaProvider,
  StateStoreConf,
  StateStoreId
}
import org.apache.spark.sql.types.StructType

import io.holdfast.checkpoint.VersionId
import io.holdfast.rows.{EncoderOrder, Unsupported}

/** What Spark tells a provider, and how it asks for a version to read, from 4.0 on. */
private[holdfast] trait FamilyProvider extends ProviderWork {

  override def init(
      stateStoreId: StateStoreId,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useColumnFamilies: Boolean,
      storeConfs: StateStoreConf,
      hadoopConf: Configuration,
      useMultipleValuesPerKey: Boolean,
      stateSchemaProvider: Option[StateSchemaProvider]): Unit = {
    // What Holdfast does not do is refused before anything is touched.
    if (useColumnFamilies) throw Unsupported.columnFamilies
    if (useMultipleValuesPerKey) throw Unsupported.unsupported("multipleValuesPerKey")
    val order = EncoderOrder.of(keyStateEncoderSpec)
    begin(stateStoreId, keySchema, valueSchema, order, storeConfs, hadoopConf)
  }

  override def getReadStore(version: Long, uniqueId: Option[String]): ReadStateStore =
    readable(VersionId(version, uniqueId))
}
