package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.avro.SchemaConverters
import org.apache.spark.sql.execution.streaming.state.{
  InMemoryStateSchemaProvider,
  StateSchemaMetadata,
  StateSchemaMetadataKey,
  StateSchemaMetadataValue,
  StateSchemaProvider
}
import org.apache.spark.sql.types.StructType

/** The schemas that rows of a store may have been written with, for providers whose rows tell theirs by
  * its number, as those of RocksDB do with Avro. Any thread may call.
  */
object WrittenSchemas {

  /** @param families
    *   the name of each column family, and the schemas of its keys and of its values by their numbers, the
    *   largest of which is written
    */
  def of(families: Seq[(String, Map[Short, StructType], Map[Short, StructType])])
      : StateSchemaProvider = {
    val all = for {
      (name, keys, values) <- families
      (schemas, isKey) <- Seq(keys -> true, values -> false)
      (number, schema) <- schemas
    } yield {
      val avro = SchemaConverters.toAvroTypeWithDefaults(schema)
      StateSchemaMetadataKey(name, number, isKey) -> StateSchemaMetadataValue(schema, avro)
    }
    new InMemoryStateSchemaProvider(StateSchemaMetadata(all.toMap))
  }
}
