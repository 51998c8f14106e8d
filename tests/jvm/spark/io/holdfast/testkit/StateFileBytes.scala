package io.holdfast.testkit

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import scala.collection.immutable.ArraySeq

import org.apache.spark.SparkConf
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals

/** The content of delta and snapshot files, read and written without Holdfast's own codecs. */
object StateFileBytes {

  /** A record: the bytes in the place of the key, and those in the place of the value, if any. */
  final case class Record(key: Seq[Byte], value: Option[Seq[Byte]])

  def records(codec: String, file: Array[Byte]): Seq[Record] = {
    val in = new DataInputStream(new ByteArrayInputStream(decompressed(codec, file)))
    Iterator.continually(in.readInt()).takeWhile(_ != -1).map(record(in, _)).toList
  }

  /** A file of records, compressed. */
  def file(codec: String, records: Record*): Array[Byte] = compressed(codec, stream(records: _*))

  /** The same before compression. */
  def stream(records: Record*): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    records.foreach { record =>
      out.writeInt(record.key.length)
      out.write(record.key.toArray)
      out.writeInt(record.value.fold(-1)(_.length))
      record.value.foreach(value => out.write(value.toArray))
    }
    out.writeInt(-1)
    bytes.toByteArray
  }

  def compressed(codec: String, stream: Array[Byte]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = codecOf(codec).compressedOutputStream(bytes)
    out.write(stream)
    out.close()
    bytes.toByteArray
  }

  def decompressed(codec: String, file: Array[Byte]): Array[Byte] =
    codecOf(codec).compressedInputStream(new ByteArrayInputStream(file)).readAllBytes()

  private def record(in: DataInputStream, keyLength: Int): Record = {
    val key = in.readNBytes(keyLength)
    val valueLength = in.readInt()
    val value = Option.when(valueLength >= 0)(ArraySeq.unsafeWrapArray(in.readNBytes(valueLength)))
    Record(ArraySeq.unsafeWrapArray(key), value)
  }

  private def codecOf(name: String) = SparkInternals.codec(new SparkConf, name)
}
