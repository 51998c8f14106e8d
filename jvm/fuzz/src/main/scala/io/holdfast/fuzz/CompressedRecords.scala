package io.holdfast.fuzz

import java.io.{ByteArrayInputStream, DataInputStream}

import io.holdfast.table.Version

/** A delta or snapshot file as it lies on the disk. Whatever a codec makes of it, it is read, or damaged;
  * and what is read are the rows of what Spark's codec alone makes of it, as [[PlainReading]] reads it.
  */
object CompressedRecords extends Target {

  override def seeds: Seq[Array[Byte]] = Golden.files.map(_.encoded)

  override def read(encoded: Array[Byte]): Boolean = {
    val input = Input.of(encoded)
    Target.unlessDamaged {
      Files.of(input, families = false).read(input)(reader => while (reader.next()) {})
    }.isDefined
  }

  override def compare(encoded: Array[Byte]): Unit = {
    val input = Input.of(encoded)
    for ((version, length) <- Target.unlessDamaged(replayed(input)) if length < MostCompared) {
      val in =
        Files.of(input, families = false).decompressing(new ByteArrayInputStream(input.bytes))
      val plain = new Array[Byte](length.toInt + EndMarkerBytes)
      // No byte more: whatever is behind may be damaged.
      try new DataInputStream(in).readFully(plain)
      finally in.close()
      val expected = PlainReading.of(input.copy(bytes = plain))
      Target.check(expected.contains(Content.of(version)), s"read $version, expected $expected")
    }
  }

  /** The version that a file makes of one without rows, and the length of its records. */
  private def replayed(input: Input): (Version, Long) =
    Files
      .of(input, families = false)
      .read(input)(reader => (Content.replayed(reader), reader.offset))

  // Some bytes of zstd stand for very many.
  private val MostCompared = 1 << 22
  private val EndMarkerBytes = 4

  override protected def mostBytes(encoded: Array[Byte]): Long =
    if (Input.of(encoded).codec == "zstd") Target.mostBytesOf(encoded.length, Target.TimesOfZstd)
    else super.mostBytes(encoded)
}
