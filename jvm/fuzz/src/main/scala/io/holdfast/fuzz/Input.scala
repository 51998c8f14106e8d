package io.holdfast.fuzz

import io.holdfast.file.StateFile

/** An input as a file: its first byte says what kind of file, and the rest is the file.
  *
  * @param codec
  *   what it is compressed with, if it is
  * @param base
  *   number of the version that a delta with column families comes behind, from 0 to 7
  */
final case class Input(
    kind: StateFile.Kind,
    rowChecksums: Boolean,
    codec: String,
    bytes: Array[Byte],
    base: Int = 0) {

  /** How the file is called in messages. */
  def file: StateFile = StateFile(s"1.${kind.suffix}", 1L, kind)

  def encoded: Array[Byte] = {
    val choice = (if (kind == StateFile.Snapshot) 1 else 0) |
      (if (rowChecksums) 2 else 0) | Input.codecs.indexOf(codec) << 2 | base << 4
    choice.toByte +: bytes
  }
}

object Input {
  val codecs: IndexedSeq[String] = Vector("lz4", "zstd", "snappy", "lzf")

  /** Any bytes are an input. */
  def of(encoded: Array[Byte]): Input = {
    val choice = encoded.headOption.getOrElse(0.toByte).toInt
    Input(
      if ((choice & 1) == 0) StateFile.Delta else StateFile.Snapshot,
      (choice & 2) != 0,
      codecs(choice >> 2 & 3),
      encoded.drop(1),
      choice >> 4 & 7)
  }
}
