package io.holdfast.fuzz

/** A delta or snapshot file as it lies on the disk. Whatever a codec makes of it, it is read, or damaged. */
object CompressedRecords extends Target {

  override def seeds: Seq[Array[Byte]] = Golden.files.map(_.encoded)

  override def read(encoded: Array[Byte]): Boolean = {
    val input = Input.of(encoded)
    Target.unlessDamaged {
      Files.of(input, families = false).read(input)(reader => while (reader.next()) {})
    }.isDefined
  }

  override protected def mostBytes(encoded: Array[Byte]): Long =
    if (Input.of(encoded).codec == "zstd") Target.mostBytesOf(encoded.length, Target.TimesOfZstd)
    else super.mostBytes(encoded)
}
