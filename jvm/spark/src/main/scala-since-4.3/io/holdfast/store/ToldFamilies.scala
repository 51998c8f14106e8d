package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.{KeyStateEncoderSpec, ReadStateStore}
import org.apache.spark.sql.types.StructType

import io.holdfast.families.FamilyDefinition

/** A version for reading that is told what column family will be read: Spark 4.3 says so here, earlier
  * ones open a writable store of the same provider and create the family there.
  */
private[holdfast] trait ToldFamilies extends ReadStateStore {

  /** Takes note of a family that the version may not have. */
  protected def told(definition: FamilyDefinition): Unit

  override def registerColFamily(
      colFamilyName: String,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean): Unit = told(
    FamilyDefinition(
      colFamilyName,
      keySchema,
      valueSchema,
      keyStateEncoderSpec,
      useMultipleValuesPerKey,
      isInternal))
}
