package io.holdfast.families

import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType}

import io.holdfast.rows.EncoderOrder
import io.holdfast.table.Family

/** A column family as an operator defines it.
  *
  * @param saidKeySchema
  *   what keys are, but perhaps for a time that the encoder knows of ([[keySchema]])
  */
final private[holdfast] case class FamilyDefinition(
    name: String,
    saidKeySchema: StructType,
    valueSchema: StructType,
    keyEncoder: KeyStateEncoderSpec,
    hasManyValues: Boolean,
    isInternal: Boolean) {
  import FamilyDefinition.same

  /** What whole keys are. */
  val keySchema: StructType = EncoderOrder.keySchema(saidKeySchema, keyEncoder)

  // Making JSON takes longer than most batches have for a family, so each is made once.
  private lazy val encoderText = keyEncoder.json
  private lazy val keyText = keySchema.json
  private lazy val valueText = valueSchema.json

  /** As the engine and the files keep it. */
  def withId(id: Int): Family =
    Family(id, name, isInternal, hasManyValues, encoderText, keyText, valueText)

  /** Whether a family is defined in the same words. Who reads a store does not know which are internal. */
  def says(family: Family): Boolean =
    family.hasManyValues == hasManyValues && family.keyEncoder == encoderText &&
      family.keySchema == keyText && family.valueSchema == valueText

  /** Whether keys are the same bytes in the same order as those of a family that is there. */
  def hasKeysOf(family: Family): Boolean =
    family.keyEncoder == encoderText && sameBytes(keySchema, DataType.fromJson(family.keySchema))

  /** Whether values are the same bytes as those of a family that is there. */
  def hasValuesOf(family: Family): Boolean =
    family.hasManyValues == hasManyValues &&
      sameBytes(valueSchema, DataType.fromJson(family.valueSchema))

  /** Whether values have other columns than those of a family that is there, or their columns other
    * names.
    */
  def evolves(family: Family): Boolean =
    family.hasManyValues == hasManyValues &&
      !same(valueSchema, DataType.fromJson(family.valueSchema), named = true)

  // Names of columns and what may be null are no part of a row.
  private def sameBytes(one: DataType, other: DataType): Boolean = same(one, other, named = false)
}

private[holdfast] object FamilyDefinition {

  /** Whether rows of two types are the same bytes.
    *
    * @param named
    *   whether columns have to be of the same names, too
    */
  def same(one: DataType, other: DataType, named: Boolean): Boolean = (one, other) match {
    case (one: StructType, other: StructType) =>
      one.length == other.length &&
      one.fields.zip(other.fields).forall { case (a, b) =>
        (!named || a.name == b.name) && same(a.dataType, b.dataType, named)
      }
    case (one: ArrayType, other: ArrayType) => same(one.elementType, other.elementType, named)
    case (one: MapType, other: MapType) =>
      same(one.keyType, other.keyType, named) && same(one.valueType, other.valueType, named)
    case _ => one == other
  }
}
