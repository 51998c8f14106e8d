package io.holdfast.fuzz

import java.io.ByteArrayInputStream

import io.holdfast.file.RecordReader

/** A reader of records that is wrong where none of its seeds leads: it takes a removal of a key of 24
  * bytes behind a row for the end of the file.
  */
object PlantedDefect extends Target {

  override def seeds: Seq[Array[Byte]] = Records.seeds.take(1)

  override def read(encoded: Array[Byte]): Boolean = {
    val input = Input.of(encoded)
    Target.unlessDamaged {
      val in = new ByteArrayInputStream(input.bytes)
      val reader = new RecordReader(in, input.file, rowChecksums = false)
      var rows = 0
      while (reader.next()) {
        if (reader.isRemoval && reader.keyLength == WrongLength && rows > 0) throw Wrong
        if (!reader.isRemoval) rows += 1
      }
    }.isDefined
  }

  private val WrongLength = 24

  /** What is thrown then. */
  val Message = "a removal that is not made"

  private object Wrong extends RuntimeException(Message)
}
