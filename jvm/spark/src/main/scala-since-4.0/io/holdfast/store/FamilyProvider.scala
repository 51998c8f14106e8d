package io.holdfast.store

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  ReadStateStore,
  StateSchemaProvider,
  StateStore,
  StateStoreConf,
  StateStoreId
}
import org.apache.spark.sql.execution.streaming.state.holdfast.ValueEvolution
import org.apache.spark.sql.types.StructType

import io.holdfast.checkpoint.VersionId
import io.holdfast.families.{DefinedFamilies, FamilyDefinition}
import io.holdfast.rows.{EncoderOrder, RowFormat, Unsupported}

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
    if (useMultipleValuesPerKey && !useColumnFamilies) {
      throw Unsupported.unsupported("multipleValuesPerKey without column families")
    }
    val order = EncoderOrder.of(keyStateEncoderSpec)
    val families =
      if (useColumnFamilies) {
        val default = FamilyDefinition(
          StateStore.DEFAULT_COL_FAMILY_NAME,
          keySchema,
          valueSchema,
          keyStateEncoderSpec,
          useMultipleValuesPerKey,
          isInternal = false)
        Some((format: RowFormat) =>
          new DefinedFamilies(default, format, ValueEvolution.isAllowed(storeConfs)))
      } else None
    val wholeKeys = EncoderOrder.keySchema(keySchema, keyStateEncoderSpec)
    begin(stateStoreId, wholeKeys, valueSchema, order, storeConfs, hadoopConf, families)
  }

  override def getReadStore(version: Long, uniqueId: Option[String]): ReadStateStore =
    readable(VersionId(version, uniqueId))
}
