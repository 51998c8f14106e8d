package org.apache.spark.sql.execution.streaming.state.holdfast

import java.io.ByteArrayOutputStream

import org.apache.avro.generic.{GenericDatumReader, GenericDatumWriter}
import org.apache.avro.io.{DecoderFactory, EncoderFactory}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.avro.{AvroDeserializer, AvroOptions, AvroSerializer, SchemaConverters}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreEncoding}
import org.apache.spark.sql.types.StructType

/** Makes values of a schema out of those of an earlier one by the rules of Avro, in Spark's own code: by
  * the names of the columns, with nulls for new ones (`AvroStateEncoder`, Spark 4.2). For one thread.
  */
final class ValueEvolution(from: StructType, to: StructType) {
  import ValueEvolution._
  private val written = SchemaConverters.toAvroTypeWithDefaults(from)
  private val read = SchemaConverters.toAvroTypeWithDefaults(to)
  private val serializer = new AvroSerializer(from, written, nullable = false)
  private val writer = new GenericDatumWriter[Any](written)
  private val reader = new GenericDatumReader[Any](written, read)
  private val bytes = new ByteArrayOutputStream
  private val encoder = EncoderFactory.get().directBinaryEncoder(bytes, null)
  private val deserializer = {
    val options = new AvroOptions(Map.empty[String, String], NoHadoopConf)
    new AvroDeserializer(
      read,
      to,
      options.datetimeRebaseModeInRead,
      options.useStableIdForUnionType,
      options.stableIdPrefixForUnionType,
      options.recursiveFieldMaxDepth)
  }
  private val toUnsafe = UnsafeProjection.create(to)

  /** @return
    *   a row that the next call overwrites
    */
  def apply(value: UnsafeRow): UnsafeRow = {
    bytes.reset()
    writer.write(serializer.serialize(value), encoder)
    encoder.flush()
    val decoder = DecoderFactory.get().binaryDecoder(bytes.toByteArray, null)
    toUnsafe(deserializer.deserialize(reader.read(null, decoder)).get.asInstanceOf[InternalRow])
  }
}

object ValueEvolution {

  // Of the options only those are used that are for rows. Hadoop's own defaults are read from files.
  private val NoHadoopConf = new Configuration(false)

  /** Whether Spark lets the schema of values change where there are some. */
  def isAllowed(conf: StateStoreConf): Boolean =
    conf.stateStoreEncodingFormat == StateStoreEncoding.Avro.toString
}
