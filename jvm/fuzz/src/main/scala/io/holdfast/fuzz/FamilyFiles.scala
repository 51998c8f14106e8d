package io.holdfast.fuzz

import java.io.ByteArrayInputStream

import io.holdfast.file.{BlockInput, FamilyFile}

/** A file of a store with column families as it lies on the disk: header, blocks with checksums, codec. It
  * is read, or damaged.
  */
object FamilyFiles extends Target {

  override def seeds: Seq[Array[Byte]] = Golden.familyFiles.map(_.encoded)

  override def read(encoded: Array[Byte]): Boolean = {
    val input = Input.of(encoded)
    Target.unlessDamaged {
      Files.of(input, families = true).readFamilies(input) { reader =>
        val _ = reader.families()
        while (reader.next()) {}
      }
    }.isDefined
  }

  // The file itself says with which codec.
  override protected def mostBytes(encoded: Array[Byte]): Long =
    Target.mostBytesOf(encoded.length, Target.TimesOfZstd)

  /** The content of a file that is right: decompressed, and without header and blocks. */
  private[fuzz] def content(file: Input): Input = {
    val raw = new ByteArrayInputStream(file.bytes)
    val said = FamilyFile.read(raw, file.file)
    val content = file.copy(rowChecksums = said.rowChecksums, codec = said.codec)
    val blocks = new BlockInput(raw, file.file)
    content.copy(bytes = Files.of(content, families = true).decompressed(blocks))
  }
}
