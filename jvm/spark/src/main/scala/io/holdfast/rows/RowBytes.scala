package io.holdfast.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import io.holdfast.file.RowChecksum

/** The bytes of an `UnsafeRow` as a range of a byte array, which is what the engine takes. Rows that
  * lie in a byte array are not copied. For one thread; reused from row to row.
  */
private[holdfast] final class RowBytes {
  private[this] var copied = new Array[Byte](64)
  private[this] var current = copied
  private[this] var start = 0
  private[this] var count = 0

  def bytes: Array[Byte] = current
  def offset: Int = start
  def length: Int = count

  def set(row: UnsafeRow): this.type = {
    count = row.getSizeInBytes
    row.getBaseObject match {
      case bytes: Array[Byte] =>
        current = bytes
        start = (row.getBaseOffset - Platform.BYTE_ARRAY_OFFSET).toInt
      case _ =>
        copy(row, 0)
    }
    this
  }

  /** Copies a value to the front of an array of its own, with the checksum of its row behind it.
    *
    * @param key
    *   the key of the row
    */
  def setWithChecksum(value: UnsafeRow, key: RowBytes): Unit = {
    copyWithRoom(value, RowChecksum.TrailerBytes)
    val checksum = RowChecksum.of(key.bytes, key.offset, key.length, current, 0, count)
    RowChecksum.putTrailer(current, count, checksum)
  }

  /** Copies the row to the front of an array of its own with room for some bytes behind it. */
  def copyWithRoom(row: UnsafeRow, room: Int): this.type = {
    count = row.getSizeInBytes
    copy(row, room)
    this
  }

  private[this] def copy(row: UnsafeRow, room: Int): Unit = {
    val needed = count + room
    // Twice as much, so that rows which grow do not need a new one each time.
    if (copied.length < needed)
      copied = new Array[Byte](math.max(needed, math.min(needed, 1 << 29) * 2))
    Platform.copyMemory(
      row.getBaseObject,
      row.getBaseOffset,
      copied,
      Platform.BYTE_ARRAY_OFFSET.toLong,
      count.toLong)
    current = copied
    start = 0
  }
}
