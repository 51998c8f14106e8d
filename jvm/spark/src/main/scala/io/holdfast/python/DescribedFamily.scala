package io.holdfast.python

import org.apache.spark.sql.types.StructType

/** A column family of a store as Python describes it, by the words of its definition in files
  * (`jvm/FORMAT.md`).
  *
  * @param table
  *   number that its rows have in files of records
  * @param keyEncoder
  *   JSON of Spark's `KeyStateEncoderSpec`
  * @param keySchemas
  *   JSON of the schemas that keys in the store may have been written with, by Spark's numbers of them;
  *   empty where rows do not tell theirs
  * @param valueSchemas
  *   the same of values
  */
final private[holdfast] case class DescribedFamily(
    table: Int,
    name: String,
    keyEncoder: String,
    keySchema: String,
    valueSchema: String,
    hasManyValues: Boolean,
    isInternal: Boolean,
    keySchemas: Map[String, String],
    valueSchemas: Map[String, String]) {

  val key: StructType = DescribedStore.schema(keySchema)

  val value: StructType = DescribedStore.schema(valueSchema)
}
