package io.holdfast.file

import java.io.{EOFException, InputStream}

import scala.util.control.NonFatal

/** Reads the records of a delta or snapshot file, one after another, without an allocation for each.
  *
  * It trusts no length: memory grows only as bytes arrive, so a damaged length makes an error and
  * not an allocation. What Spark reads, it reads (`HDFSBackedStateStoreProvider`, Spark 2.0 to 4.3):
  * a value whose length is no multiple of 8 loses the rest (files from before Spark 2.3), and
  * whatever follows the end marker is not looked at.
  *
  * For one thread.
  *
  * @param in
  *   the decompressed stream; closed by the caller
  * @param rowChecksums
  *   whether the records carry Spark's row checksums, which are then checked
  */
class RecordReader(in: InputStream, file: StateFile, val rowChecksums: Boolean) {
  private[this] var buffer = new Array[Byte](RecordReader.LeastBufferBytes)
  private[this] var position = 0
  private[this] var limit = 0
  private[this] var readBefore = 0L // bytes of the stream in front of the buffer

  private[this] var removal = false
  private[this] var keyStart = 0
  private[this] var keyBytes = 0
  private[this] var valueStart = 0
  private[this] var valueBytes = 0
  private[this] var rowChecksum = 0

  /** Goes to the next record.
    *
    * @return
    *   false at the end marker
    * @throws StateFileException
    *   if the file ends early, does not decompress or holds what no writer writes
    */
  def next(): Boolean = {
    val start = offset
    if (available < 4) fill(4, "the length of a key or the end marker")
    val keyLength = intAt(position)
    if (keyLength == StateFile.EndMarker) false
    else if (keyLength < 0) throw new InvalidKeyLengthException(file, start, keyLength)
    else {
      if (available < 8L + keyLength) {
        fill(8L + keyLength, s"a key of $keyLength bytes and the length of its value")
      }
      val valueLength = intAt(position + 4 + keyLength)
      if (valueLength < 0) readRemoval(keyLength, valueLength)
      else readPut(keyLength, valueLength)
      true
    }
  }

  /** Whether the current record removes its key. */
  def isRemoval: Boolean = removal

  /** The array that holds key and value of the current record; good until the next call of `next`. */
  def bytes: Array[Byte] = buffer
  def keyOffset: Int = keyStart
  def keyLength: Int = keyBytes
  def valueOffset: Int = valueStart
  def valueLength: Int = valueBytes

  /** The checksum of the current record, if records carry checksums. */
  def checksum: Int = rowChecksum

  /** Bytes of the decompressed stream in front of the next record. */
  def offset: Long = readBefore + position

  /** Reads the int at the place of the next record. */
  final protected def takeInt(expected: String): Int = {
    if (available < 4) fill(4, expected)
    position += 4
    intAt(position - 4)
  }

  /** Reads bytes at the place of the next record. */
  final protected def takeBytes(length: Int, expected: String): Array[Byte] = {
    if (available < length) fill(length.toLong, expected)
    position += length
    java.util.Arrays.copyOfRange(buffer, position - length, position)
  }

  private[this] def readRemoval(keyLength: Int, valueLength: Int): Unit = {
    if (file.kind == StateFile.Snapshot) {
      throw new InvalidValueLengthException(file, offset + 4 + keyLength, valueLength)
    }
    removal = true
    keyStart = position + 4
    keyBytes = keyLength
    valueBytes = 0
    if (rowChecksums) {
      takeChecksum(keyStart, keyLength, "a removed key")
      keyStart += RowChecksum.FileBytes
      keyBytes -= RowChecksum.FileBytes
      verify(RowChecksum.of(buffer, keyStart, keyBytes))
    }
    checkKey()
    position += 8 + keyLength
  }

  private[this] def readPut(keyLength: Int, valueLength: Int): Unit = {
    if (available < 8L + keyLength + valueLength) {
      fill(8L + keyLength + valueLength, s"a value of $valueLength bytes")
    }
    removal = false
    keyStart = position + 4
    keyBytes = keyLength
    valueStart = position + 8 + keyLength
    valueBytes = valueLength
    if (rowChecksums) {
      takeChecksum(valueStart, valueLength, "a value")
      valueStart += RowChecksum.FileBytes
      valueBytes -= RowChecksum.FileBytes
      verify(RowChecksum.of(buffer, keyStart, keyBytes, buffer, valueStart, valueBytes))
    }
    if ((valueBytes & 7) != 0) cutValue()
    checkKey()
    position += 8 + keyLength + valueLength
  }

  // The row is another one then, and so is its checksum.
  private[this] def cutValue(): Unit = {
    valueBytes &= ~7
    if (rowChecksums) {
      rowChecksum = RowChecksum.of(buffer, keyStart, keyBytes, buffer, valueStart, valueBytes)
    }
  }

  private[this] def takeChecksum(start: Int, length: Int, what: String): Unit = {
    if (length < RowChecksum.FileBytes) {
      throw new InvalidRowException(
        file,
        offset,
        s"expected $what that begins with a checksum of ${RowChecksum.FileBytes} bytes, found " +
          s"$length bytes")
    }
    rowChecksum = RowChecksum.get(buffer, start)
  }

  private[this] def verify(computed: Int): Unit =
    if (computed != rowChecksum) {
      throw new RowChecksumException(file, offset, rowChecksum, computed)
    }

  private[this] def checkKey(): Unit =
    if ((keyBytes & 7) != 0) {
      throw new InvalidRowException(
        file,
        offset,
        s"expected a key of whole 8-byte words, found $keyBytes bytes")
    }

  private[this] def intAt(at: Int): Int =
    (buffer(at) & 0xff) << 24 | (buffer(at + 1) & 0xff) << 16 |
      (buffer(at + 2) & 0xff) << 8 | (buffer(at + 3) & 0xff)

  // Bytes of the buffer that have not been looked at. Callers ask before they call `fill`, because
  // what that is told about the record costs more to put together than most records cost to read.
  private[this] def available: Int = limit - position

  // Makes `length` bytes from `position` on available in the buffer, more than there are.
  private[this] def fill(length: Long, expected: String): Unit = {
    if (length > RecordReader.MaxRecordBytes) {
      throw new InvalidRowException(
        file,
        offset,
        s"expected a record of at most ${RecordReader.MaxRecordBytes} bytes, found one of $length")
    }
    val wasFull = limit == buffer.length
    moveToFront()
    // Grows with the file, since most deltas of small batches need little of it.
    if (wasFull && buffer.length < RecordReader.BufferBytes) enlarge()
    while (limit < length) {
      if (limit == buffer.length) enlarge()
      limit += read(expected)
    }
  }

  private[this] def moveToFront(): Unit = {
    System.arraycopy(buffer, position, buffer, 0, limit - position)
    readBefore += position
    limit -= position
    position = 0
  }

  // Doubles and no more: whoever claims a long record has to deliver half of it first.
  private[this] def enlarge(): Unit = {
    val doubled = math.min(buffer.length * 2L, RecordReader.MaxRecordBytes.toLong)
    buffer = java.util.Arrays.copyOf(buffer, doubled.toInt)
  }

  private[this] def read(expected: String): Int = {
    val count =
      try in.read(buffer, limit, buffer.length - limit)
      catch {
        case _: EOFException => -1
        // Decompressors meet damaged input with exceptions and errors of many kinds.
        case NonFatal(e) => throw new UnreadableFileException(file, readBefore + limit, e)
      }
    if (count <= 0) throw new TruncatedFileException(file, readBefore + limit, expected)
    count
  }
}

object RecordReader {
  private val LeastBufferBytes = 1 << 12
  private val BufferBytes = 1 << 16

  /** The longest array that every JVM allocates, rounded down. */
  private val MaxRecordBytes = Int.MaxValue - 64
}
