package io.holdfast.file

import java.io.{IOException, InputStream, OutputStream}

/** The blocks of a file of a store with column families: a stream cut into pieces, each with a checksum
  * of its own, see `jvm/FORMAT.md`.
  */
private[file] object Blocks {

  /** Longest block that a reader takes. */
  val MaxBytes: Int = 1 << 20

  /** Length of the blocks that are written. */
  val WrittenBytes: Int = 1 << 16

  /** Bytes in front of a block: its length and checksum. */
  val HeaderBytes = 8

  /** The checksum of a block, for one thread. */
  final class Checksum {
    private[this] val numbers = new Array[Byte](8)

    def of(number: Int, bytes: Array[Byte], length: Int): Int = {
      RawBytes.putInt(numbers, 0, number)
      RawBytes.putInt(numbers, 4, length)
      val crc = new Crc32c
      crc.update(numbers, 0, 8)
      crc.update(bytes, 0, length)
      crc.value()
    }
  }
}

/** Writes a stream in blocks. For one thread; closing leaves the stream below open.
  *
  * @param out
  *   where the blocks go
  */
final class BlockOutput(out: OutputStream) extends OutputStream {
  // Grows with the file, since most deltas of small batches need little of it.
  private[this] var block = new Array[Byte](1 << 9)
  private[this] var used = 0
  private[this] var number = 0
  private[this] val header = new Array[Byte](Blocks.HeaderBytes)
  private[this] val checksum = new Blocks.Checksum

  override def write(byte: Int): Unit = {
    reserve()
    block(used) = byte.toByte
    used += 1
  }

  override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
    var at = offset
    val end = offset + length
    while (at < end) {
      reserve()
      val count = math.min(end - at, block.length - used)
      System.arraycopy(bytes, at, block, used, count)
      used += count
      at += count
    }
  }

  /** Writes what is left, and the end block. Nothing may follow. */
  def finish(): Unit = {
    if (used > 0) writeBlock()
    writeBlock()
  }

  private[this] def reserve(): Unit =
    if (used == block.length) {
      if (used == Blocks.WrittenBytes) writeBlock()
      else block = java.util.Arrays.copyOf(block, 2 * used)
    }

  private[this] def writeBlock(): Unit = {
    RawBytes.putInt(header, 0, used)
    RawBytes.putInt(header, 4, checksum.of(number, block, used))
    out.write(header, 0, Blocks.HeaderBytes)
    out.write(block, 0, used)
    number += 1
    used = 0
  }
}

/** Reads a stream that was written in blocks, each of which is checked before a byte of it is given out.
  * For one thread; closing leaves the stream below open.
  *
  * @param in
  *   the blocks
  */
final class BlockInput(in: InputStream, file: StateFile) extends ChunkInput {
  private[this] val raw = new RawBytes(in, file)
  override protected var chunk: Array[Byte] = new Array[Byte](1 << 9)
  private[this] var number = 0
  private[this] var ended = false
  private[this] val header = new Array[Byte](Blocks.HeaderBytes)
  private[this] val checksum = new Blocks.Checksum
  // Decompressors meet failures below with failures of their own; what was found here says more.
  private[this] var failure: StateFileException = null

  /** The damage that reading met, or null. */
  def damage: StateFileException = failure

  /** Reads what the decompressor has left, to the end block, which has to be the last thing in the file.
    *
    * @throws StateFileException
    *   if it is not, or if one of the blocks is damaged
    */
  def finish(): Unit = {
    while (fill()) position = limit
    if (!raw.atEnd) throw damaged("expected the end of the file behind the end block, found more")
  }

  override protected def takeNext(): Unit = {
    if (failure != null) throw failure
    if (!ended) {
      try next()
      catch {
        case e: StateFileException =>
          failure = e
          throw e
      }
    }
  }

  private[this] def next(): Unit = {
    raw.read(header, Blocks.HeaderBytes, s"the length and checksum of block $number")
    val length = RawBytes.int(header, 0)
    if (length < 0 || length > Blocks.MaxBytes) {
      throw damaged(
        s"expected a block $number of at most ${Blocks.MaxBytes} bytes, found one of $length")
    }
    if (chunk.length < length) chunk = new Array[Byte](math.max(length, 2 * chunk.length))
    raw.read(chunk, length, s"block $number of $length bytes")
    val expected = RawBytes.int(header, 4)
    val computed = checksum.of(number, chunk, length)
    if (expected != computed) {
      throw damaged(
        s"expected a block $number with the checksum $expected, found one with $computed")
    }
    number += 1
    limit = length
    ended = length == 0
  }

  private[this] def damaged(what: String): StateFileException =
    new InvalidFamilyFileException(file, raw.offset, what)

  @throws[IOException]
  override def close(): Unit = ()
}
