package io.holdfast.sim.families

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataOutputStream}
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.SparkConf
import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals

import io.holdfast.file.{BlockInput, BlockOutput, FamilyFile, FamilyRecordReader, StateFile}
import io.holdfast.table.{Family, FamilyChanges}

/** A record of a file of a store with column families; a removal has no value. */
final case class FamilyRecord(table: Int, key: Array[Byte], value: Option[Array[Byte]])

/** What a file of a store with column families says, as `jvm/FORMAT.md` has it: for planted defects to
  * say something else. Of files whose records carry no checksums.
  */
final case class FamilyFileContent(
    kind: StateFile.Kind,
    codec: String,
    families: FamilyChanges,
    records: Vector[FamilyRecord]) {
  import FamilyFileContent._

  def bytes: Array[Byte] = {
    val file = new ByteArrayOutputStream
    FamilyFile.write(file, kind, FamilyFile(codec, rowChecksums = false))
    val blocks = new BlockOutput(file)
    val out = new DataOutputStream(codecOf(codec).compressedOutputStream(blocks))
    out.writeInt(families.removed.size)
    families.removed.foreach(out.writeInt)
    out.writeInt(families.defined.size)
    families.defined.foreach(write(out, _))
    records.foreach { record =>
      out.writeInt(record.table)
      out.writeInt(record.key.length)
      out.write(record.key)
      out.writeInt(record.value.fold(Removed)(_.length))
      record.value.foreach(out.write(_))
    }
    out.writeInt(EndMarker)
    out.close()
    blocks.finish()
    file.toByteArray
  }

  private def write(out: DataOutputStream, family: Family): Unit = {
    out.writeInt(family.id)
    out.writeByte(
      (if (family.isInternal) Internal else 0) | (if (family.hasManyValues) ManyValues else 0))
    Seq(family.name, family.keyEncoder, family.keySchema, family.valueSchema).foreach { text =>
      val bytes = text.getBytes(UTF_8)
      out.writeInt(bytes.length)
      out.write(bytes)
    }
  }
}

object FamilyFileContent {
  private val Internal = 1
  private val ManyValues = 2
  private val Removed = -1
  private val EndMarker = -1

  // To make a codec may look through the whole class path.
  private val codecs = new java.util.concurrent.ConcurrentHashMap[String, CompressionCodec]

  private def codecOf(name: String): CompressionCodec =
    codecs.computeIfAbsent(name, SparkInternals.codec(new SparkConf, _))

  /** What a file says. */
  def of(path: String, kind: StateFile.Kind, bytes: Array[Byte]): FamilyFileContent = {
    val file = StateFile(path, 0L, kind)
    val in = new ByteArrayInputStream(bytes)
    val said = FamilyFile.read(in, file)
    val stream = codecOf(said.codec).compressedInputStream(new BlockInput(in, file))
    val reader = new FamilyRecordReader(stream, file, said.rowChecksums)
    val families = reader.families()
    val records = Vector.newBuilder[FamilyRecord]
    while (reader.next()) {
      def part(from: Int, length: Int) = reader.bytes.slice(from, from + length)
      records += FamilyRecord(
        reader.table,
        part(reader.keyOffset, reader.keyLength),
        if (reader.isRemoval) None else Some(part(reader.valueOffset, reader.valueLength)))
    }
    FamilyFileContent(kind, said.codec, families, records.result())
  }
}
