package io.holdfast.file

import java.io.{EOFException, FilterInputStream, IOException, InputStream}
import java.nio.charset.StandardCharsets.US_ASCII

/** The compressed bytes of a file, of which a chunk is given out when all of it has come. Codecs make room
  * for as many bytes as a chunk says that it has, up to 2 GiB, and only then read them
  * (`LZ4BlockInputStream` of lz4-java, `SnappyInputStream` of snappy-java): here memory grows as bytes
  * arrive, so a damaged length makes an error and not an allocation.
  *
  * What ends one of several streams in a file, or begins the next, is passed over: the codecs call
  * themselves at each, and many in a row leave no stack.
  *
  * Some codecs believe what a chunk says of its content, too: [[ChunkContent]].
  *
  * For one thread.
  */
sealed abstract class WholeChunks(in: InputStream) extends ChunkInput {
  override protected var chunk: Array[Byte] = new Array[Byte](1 << 12)

  /** Takes the bytes in front of a chunk.
    *
    * @return
    *   false if there are none, at the end of the stream
    * @throws java.io.EOFException
    *   if there are less
    */
  final protected def takeHeader(count: Int): Boolean = {
    val isThere = take(count)
    if (!isThere && limit > 0) {
      throw new EOFException(
        s"expected $count bytes in front of a chunk, found the end of the file")
    }
    isThere
  }

  /** Takes the bytes of a chunk.
    *
    * @throws java.io.EOFException
    *   if there are less
    */
  final protected def takeBody(count: Int): Unit =
    if (!take(count)) {
      throw new EOFException(s"expected a chunk of $count bytes, found the end of the file")
    }

  /** Takes the bytes in front of a chunk, as [[takeHeader]], and passes over those in front of none.
    *
    * @param isInFrontOfNone
    *   whether the bytes that were taken only end a stream, or begin one
    */
  final protected def takeHeaderOfChunk(count: Int)(isInFrontOfNone: => Boolean): Boolean = {
    var isThere = takeHeader(count)
    while (isThere && isInFrontOfNone) {
      limit = 0
      isThere = takeHeader(count)
    }
    isThere
  }

  private def take(count: Int): Boolean = {
    val end = limit.toLong + count
    var isThere = true
    while (isThere && limit < end) {
      // Doubles and no more: whoever claims a long chunk has to deliver half of it first.
      if (limit == chunk.length) {
        chunk = java.util.Arrays.copyOf(chunk, math.min(2L * limit, end).toInt)
      }
      val read = in.read(chunk, limit, math.min(chunk.length.toLong, end).toInt - limit)
      if (read > 0) limit += read else isThere = false
    }
    isThere
  }

  override def close(): Unit = in.close()
}

object WholeChunks {

  /** The bytes of a file for a codec.
    *
    * @param codec
    *   its short name
    * @param in
    *   the file; `in` itself where it is not known what chunks are
    * @param trustsLz4
    *   whether lz4-java looks itself at what the content of a block says
    */
  def of(codec: String, in: InputStream, trustsLz4: Boolean = false): InputStream = codec match {
    case "lz4" => new Lz4(in, trustsLz4)
    case "snappy" => new Snappy(in)
    case "lzf" => new Lzf(in)
    case "zstd" => new Zstd(in)
    case _ => in
  }

  /** Blocks of lz4-java, see `jvm/FORMAT.md`. */
  private final class Lz4(in: InputStream, trusts: Boolean) extends WholeChunks(in) {
    override protected def takeNext(): Unit =
      if (takeHeaderOfChunk(HeaderBytes)(isEnd)) {
        if (!hasMagic) throw new IOException("expected a block of lz4, found other bytes")
        val compressed = Numbers.littleEndian(chunk, CompressedAt)
        val original = Numbers.littleEndian(chunk, CompressedAt + 4)
        // The codec refuses what is below zero, before it makes room.
        if (compressed > 0) {
          takeBody(compressed)
          checkLength(original.toLong, compressed, MostTimes)
          if (!trusts && method == Compressed) {
            checkContent(ChunkContent.isLz4(chunk, HeaderBytes, HeaderBytes + compressed, original))
          }
        }
      }

    private def hasMagic: Boolean = Magic.indices.forall(i => chunk(i) == Magic(i))

    // A block without bytes, as the codec takes it: whatever else says so is left to it.
    private def isEnd: Boolean =
      (CompressedAt until HeaderBytes).forall(chunk(_) == 0) && hasMagic &&
        (method == Stored || method == Compressed)

    private def method: Int = chunk(Magic.length) & 0xf0

    private[this] val Magic = "LZ4Block".getBytes(US_ASCII)
    private[this] val HeaderBytes = 21
    private[this] val CompressedAt = 9
    private[this] val Stored = 0x10
    private[this] val Compressed = 0x20

    // A byte can say of a match that it is longer by 255.
    private[this] val MostTimes = 255
  }

  /** Chunks of snappy-java, see `jvm/FORMAT.md`. */
  private final class Snappy(in: InputStream) extends WholeChunks(in) {
    private[this] var begun = false

    override protected def takeNext(): Unit =
      if (!begun) {
        begun = true
        // Without it the codec takes all of the file for one chunk.
        if (takeHeader(HeaderBytes) && Numbers.bigEndian(chunk, 0) != Magic) {
          throw new IOException("expected the header of snappy, found other bytes")
        }
      } else if (takeHeaderOfChunk(LengthBytes)(beginsAgain)) {
        val compressed = Numbers.bigEndian(chunk, 0)
        if (compressed > 0) {
          takeBody(compressed)
          checkLength(Numbers.varint(chunk, LengthBytes, compressed), compressed, MostTimes)
        }
      }

    // Takes the header of another stream, and says whether it is one as the codec takes it: others are
    // left to it.
    private def beginsAgain: Boolean =
      Numbers.bigEndian(chunk, 0) == Magic &&
        takeHeader(HeaderBytes - LengthBytes) &&
        Numbers.bigEndian(chunk, LengthBytes) == MagicRest &&
        Numbers.bigEndian(chunk, CompatibleAt) >= LeastCompatible

    private[this] val HeaderBytes = 16
    private[this] val LengthBytes = 4
    private[this] val Magic = 0x82534e41 // the first four bytes of the header
    private[this] val MagicRest = 0x50505900 // the next four
    private[this] val CompatibleAt = 12
    private[this] val LeastCompatible = 1

    // Three bytes copy 64.
    private[this] val MostTimes = 22
  }

  /** Chunks of compress-lzf, see `jvm/FORMAT.md`. They are short whatever they say. */
  private final class Lzf(in: InputStream) extends WholeChunks(in) {
    override protected def takeNext(): Unit =
      if (takeHeader(HeaderBytes) && chunk(0) == 'Z' && chunk(1) == 'V') {
        val length = Numbers.bigEndian16(chunk, HeaderBytes - 2)
        if (chunk(2) == Stored) takeBody(length)
        else if (takeHeader(OriginalBytes)) {
          val original = Numbers.bigEndian16(chunk, HeaderBytes)
          takeBody(length)
          val from = HeaderBytes + OriginalBytes
          checkContent(ChunkContent.isLzf(chunk, from, from + length, original))
        }
      }

    private[this] val HeaderBytes = 5
    private[this] val OriginalBytes = 2
    private[this] val Stored = 0
  }

  /** A stream of zstd, whose codec has a limit of its own. It says of all that is ready in the file that
    * it can be read of what it decompresses, too, and this says that nothing is: see [[ChunkByChunk]].
    */
  private final class Zstd(in: InputStream) extends FilterInputStream(in) {
    override def available(): Int = 0
  }

  private def checkContent(isRight: Boolean): Unit =
    if (!isRight) {
      throw new IOException("expected a chunk that makes as many bytes as it says, found another")
    }

  private def checkLength(original: Long, compressed: Int, mostTimes: Int): Unit =
    if (original > SomeBytes + mostTimes.toLong * compressed) {
      throw new IOException(
        s"expected a chunk of $compressed bytes to hold at most $mostTimes times as many, found one " +
          s"that says $original")
    }

  private val SomeBytes = 64L

  private object Numbers {
    def bigEndian(bytes: Array[Byte], at: Int): Int = RawBytes.int(bytes, at)

    def littleEndian(bytes: Array[Byte], at: Int): Int = Integer.reverseBytes(bigEndian(bytes, at))

    def bigEndian16(bytes: Array[Byte], at: Int): Int =
      (bytes(at) & 0xff) << 8 | bytes(at + 1) & 0xff

    /** A number in groups of seven bits, least first, at most five of them. */
    def varint(bytes: Array[Byte], at: Int, length: Int): Long = {
      var number = 0L
      var i = 0
      var goesOn = true
      while (goesOn && i < math.min(length, 5)) {
        number |= (bytes(at + i) & 0x7fL) << 7 * i
        goesOn = bytes(at + i) < 0
        i += 1
      }
      number
    }
  }
}
