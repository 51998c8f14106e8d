package io.holdfast.fuzz

import java.io.ByteArrayInputStream

/** The decompressed content of a delta or snapshot file: it is read as [[PlainReading]] reads it, or both
  * find that it is damaged; and what was read is written and read again.
  */
object Records extends Target {

  override def seeds: Seq[Array[Byte]] =
    Golden.files.filter(_.codec == Input.codecs.head).map { file =>
      val files = Files.of(file, families = false)
      file.copy(bytes = files.decompressed(new ByteArrayInputStream(file.bytes))).encoded
    }

  override def read(encoded: Array[Byte]): Boolean = {
    val input = Input.of(encoded)
    val version = Target.unlessDamaged(Content.replayed(input), input.bytes.length.toLong)
    val expected = PlainReading.of(input)
    Target.check(version.map(Content.of) == expected, s"read $version, expected $expected")
    version.foreach(Content.checkWritten(_, input.rowChecksums))
    version.isDefined
  }
}
