package io.holdfast.file

import java.io.{DataOutputStream, InputStream, OutputStream}
import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}

/** What a file of a store with column families says of itself in front of its blocks, see
  * `jvm/FORMAT.md`. Any thread may call.
  *
  * @param codec
  *   short name of the codec of its stream
  * @param rowChecksums
  *   whether its records carry Spark's row checksums
  */
final case class FamilyFile(codec: String, rowChecksums: Boolean)

object FamilyFile {
  private val Magic = "HOLDFAST".getBytes(US_ASCII)
  private val Version = 1
  private val RowChecksums = 1
  private val MaxCodecBytes = 255
  private val Codecs = Set("lz4", "zstd", "snappy", "lzf")

  /** Whether a file begins as those of stores with column families do, by as many of its first bytes as
    * are known: four are enough, since no codec begins with them.
    */
  def isOne(first: FirstBytes): Boolean = {
    val known = first.known
    known.length >= 4 && known.sameElements(Magic.take(known.length))
  }

  /** Writes the header.
    *
    * @throws IllegalArgumentException
    *   if the codec is none of the four
    */
  def write(out: OutputStream, kind: StateFile.Kind, file: FamilyFile): Unit = {
    if (!Codecs(file.codec)) throw new IllegalArgumentException(unknownCodec(file.codec))
    val checked = new Checked(out)
    val data = new DataOutputStream(checked)
    data.write(Magic)
    data.writeInt(Version)
    data.writeByte(kind.letter.toInt)
    data.writeByte(if (file.rowChecksums) RowChecksums else 0)
    val codec = file.codec.getBytes(UTF_8)
    data.writeInt(codec.length)
    data.write(codec)
    data.writeInt(checked.sum)
  }

  /** Reads the header, and leaves the stream behind it.
    *
    * @throws StateFileException
    *   if it is none, or says what this reader does not know
    */
  def read(in: InputStream, file: StateFile): FamilyFile = {
    val bytes = new HeaderBytes(in, file)
    if (!java.util.Arrays.equals(bytes.take(Magic.length, "the magic HOLDFAST"), Magic)) {
      bytes.refuse("expected the magic HOLDFAST of a file with column families, found other bytes")
    }
    val version = bytes.int("the format version")
    if (version != Version) {
      bytes.refuse(
        s"expected format version $Version, found $version, which a newer Holdfast may have written")
    }
    val kind = bytes.take(1, "the kind of the file")(0).toChar
    if (kind != file.kind.letter) {
      bytes.refuse(s"expected the kind '${file.kind.letter}', found '$kind'")
    }
    val flags = bytes.take(1, "flags")(0).toInt
    if ((flags & ~RowChecksums) != 0) {
      bytes.refuse(s"expected no flags but $RowChecksums, found $flags")
    }
    val length = bytes.int("the length of the codec's name")
    if (length < 0 || length > MaxCodecBytes) {
      bytes.refuse(s"expected a codec's name of at most $MaxCodecBytes bytes, found $length")
    }
    val codec = new String(bytes.take(length, "the codec's name"), UTF_8)
    bytes.check()
    if (!Codecs(codec)) bytes.refuse(unknownCodec(codec))
    FamilyFile(codec, (flags & RowChecksums) != 0)
  }

  private def unknownCodec(codec: String): String =
    s"expected one of the codecs ${Codecs.toSeq.sorted.mkString(", ")}, found '$codec'"

  /** Checks what is written through it. */
  private final class Checked(out: OutputStream) extends OutputStream {
    private[this] val crc = new Crc32c

    def sum: Int = crc.value()

    override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
      crc.update(bytes, offset, length)
      out.write(bytes, offset, length)
    }
  }

  /** The bytes of a header that is read. */
  private final class HeaderBytes(in: InputStream, file: StateFile) {
    private[this] val crc = new Crc32c
    private[this] val raw = new RawBytes(in, file)

    def take(count: Int, what: String): Array[Byte] = {
      val bytes = new Array[Byte](count)
      raw.read(bytes, count, what)
      crc.update(bytes, 0, count)
      bytes
    }

    def int(what: String): Int = RawBytes.int(take(4, what), 0)

    def check(): Unit = {
      val computed = crc.value()
      val found = int("the checksum of the header")
      if (found != computed) {
        refuse(s"expected a header with the checksum $found, found one with $computed")
      }
    }

    def refuse(what: String): Nothing = throw new InvalidFamilyFileException(file, raw.offset, what)
  }
}
