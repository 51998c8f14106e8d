package io.holdfast.fuzz

import java.io.{ByteArrayInputStream, InputStream}

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.execution.streaming.state.{
  NoPrefixKeyStateEncoderSpec,
  StateStoreConf,
  StateStoreId
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{LongType, StructType}

import io.holdfast.checkpoint.{StateFiles, VersionId}
import io.holdfast.conf.StoreContext
import io.holdfast.families.{DefinedFamilies, FamilyDefinition}
import io.holdfast.file.{FamilyRecordReader, RecordReader}

/** The product's readers of files, which are given the bytes of an input instead of those of a file.
  *
  * @param families
  *   whether the store has column families
  */
final private[fuzz] class Files private (codec: String, rowChecksums: Boolean, families: Boolean) {
  import Files._

  private val context: StoreContext = {
    val settings = new SQLConf
    settings.setConfString("spark.sql.streaming.stateStore.compression.codec", codec)
    settings.setConfString(
      "spark.sql.streaming.stateStore.rowChecksum.enabled",
      rowChecksums.toString)
    val hadoop = new Configuration(false)
    hadoop.set(StreamExecution.RUN_ID_KEY, "00000000-0000-0000-0000-000000000001")
    StoreContext(
      StateStoreId("memory:///store", 0L, 0),
      row,
      row,
      order = None,
      new StateStoreConf(settings),
      hadoop,
      Option.when(families)(new DefinedFamilies(default, _, mayEvolve = true)))
  }

  private val files =
    new StateFiles(context, (_, _) => throw new AssertionError("no file is to be opened"))

  /** What is known of the column families of a store that has them. */
  def definitions: DefinedFamilies = DefinedFamilies.of(context)

  def read[A](input: Input)(use: RecordReader => A): A =
    files.read(input.kind, version, new ByteArrayInputStream(input.bytes))(use)

  def readFamilies[A](input: Input)(use: FamilyRecordReader => A): A =
    files.readFamilies(input.kind, version, new ByteArrayInputStream(input.bytes))(use)

  /** What the codec alone makes of what was compressed. */
  def decompressing(compressed: InputStream): InputStream =
    files.codec().compressedInputStream(compressed)

  /** The decompressed content of what was compressed. */
  def decompressed(compressed: InputStream): Array[Byte] = {
    val in = decompressing(compressed)
    try in.readAllBytes()
    finally in.close()
  }
}

private[fuzz] object Files {
  private val version = VersionId(1L, None)
  private val row = new StructType().add("word", LongType)
  private val default = FamilyDefinition(
    "default",
    row,
    row,
    NoPrefixKeyStateEncoderSpec(row),
    hasManyValues = false,
    isInternal = false)

  private val all: Map[(String, Boolean, Boolean), Files] = {
    for (codec <- Input.codecs; checksums <- Both; families <- Both)
      yield (codec, checksums, families) -> new Files(codec, checksums, families)
  }.toMap

  private def Both = Seq(false, true)

  /** Those of a store whose settings are as an input says. */
  def of(input: Input, families: Boolean): Files = all((input.codec, input.rowChecksums, families))
}
