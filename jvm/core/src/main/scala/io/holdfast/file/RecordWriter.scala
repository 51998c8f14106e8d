package io.holdfast.file

import java.io.OutputStream

import io.holdfast.table.{ChangeVisitor, Changes, RowCursor, RowRecord}

/** Writes the records of a delta or snapshot file straight from row pages.
  *
  * The bytes are those of Spark's `HDFSBackedStateStoreProvider` (Spark 2.0 to 4.3), see
  * `jvm/FORMAT.md`:
  * {{{
  * | key length, int32 | key | value length, int32, or -1 if the key was removed | value |
  * ...
  * | -1, int32 |
  * }}}
  * Ints are big-endian. For one thread. Errors of the stream pass through.
  *
  * @param out
  *   the stream to write to, already compressing; closed by the caller
  * @param rowChecksums
  *   whether values end with a [[RowChecksum]] trailer, to be written as Spark writes checksums
  */
class RecordWriter(out: OutputStream, rowChecksums: Boolean) extends ChangeVisitor {
  // Grows with the file, since most deltas of small batches need little of it.
  private[this] var buffer = new Array[Byte](RecordWriter.LeastBufferBytes)
  private[this] var used = 0
  private[this] var recordCount = 0L
  private[this] var byteCount = 0L

  /** Records written so far. */
  def records: Long = recordCount

  /** Bytes written so far, before compression. */
  def bytes: Long = byteCount

  override def put(page: Array[Byte], offset: Int): Unit = {
    val keyLength = RowRecord.keyLength(page, offset)
    val valueOffset = RowRecord.valueOffset(page, offset)
    val valueLength = RowRecord.valueLength(page, offset)
    writeInt(keyLength)
    write(page, RowRecord.keyOffset(offset), keyLength)
    if (rowChecksums) {
      val rowLength = valueLength - RowChecksum.TrailerBytes
      writeInt(RowChecksum.FileBytes + rowLength)
      write(page, valueOffset + rowLength, RowChecksum.FileBytes)
      write(page, valueOffset, rowLength)
    } else {
      writeInt(valueLength)
      write(page, valueOffset, valueLength)
    }
    recordCount += 1
  }

  override def remove(page: Array[Byte], offset: Int): Unit = {
    val keyOffset = RowRecord.keyOffset(offset)
    val keyLength = RowRecord.keyLength(page, offset)
    if (rowChecksums) {
      writeInt(RowChecksum.FileBytes + keyLength)
      reserve(RowChecksum.FileBytes)
      RowChecksum.put(buffer, used, RowChecksum.of(page, keyOffset, keyLength))
      used += RowChecksum.FileBytes
    } else writeInt(keyLength)
    write(page, keyOffset, keyLength)
    writeInt(StateFile.RemovedMarker)
    recordCount += 1
  }

  /** Writes changes, their rows last. */
  def write(changes: Changes): Unit = changes.foreach(this)

  /** Writes all rows that a cursor has still before it. */
  def putAll(rows: RowCursor): Unit =
    while (rows.next()) put(rows.page, rows.offset)

  /** Writes the end marker and flushes the buffer into the stream. Nothing may follow. */
  def finish(): Unit = {
    writeInt(StateFile.EndMarker)
    flushBuffer()
  }

  final protected def writeInt(value: Int): Unit = {
    reserve(4)
    buffer(used) = (value >>> 24).toByte
    buffer(used + 1) = (value >>> 16).toByte
    buffer(used + 2) = (value >>> 8).toByte
    buffer(used + 3) = value.toByte
    used += 4
  }

  final protected def write(bytes: Array[Byte], offset: Int, length: Int): Unit =
    if (length > RecordWriter.BufferBytes) {
      flushBuffer()
      out.write(bytes, offset, length)
      byteCount += length
    } else {
      reserve(length)
      System.arraycopy(bytes, offset, buffer, used, length)
      used += length
    }

  private[this] def reserve(length: Int): Unit =
    if (buffer.length - used < length) {
      if (buffer.length == RecordWriter.BufferBytes) flushBuffer()
      else enlarge(used + length)
    }

  private[this] def enlarge(atLeast: Int): Unit = {
    if (atLeast > RecordWriter.BufferBytes) flushBuffer()
    var length = 2 * buffer.length
    while (length < atLeast && length < RecordWriter.BufferBytes) length *= 2
    buffer = java.util.Arrays.copyOf(buffer, length)
  }

  private[this] def flushBuffer(): Unit = {
    out.write(buffer, 0, used)
    byteCount += used
    used = 0
  }
}

object RecordWriter {
  private val BufferBytes = 1 << 16
  private val LeastBufferBytes = 1 << 9
}
