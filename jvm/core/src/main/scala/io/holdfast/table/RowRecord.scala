package io.holdfast.table

/** The layout of one row inside a page.
  *
  * {{{
  * | key length + flags, int32 | value length, int32 | key | value | padding to 8 bytes |
  * }}}
  *
  * Both ints are little-endian. Key and value bytes never change once they are written. The flags
  * in the upper bits of the key length do change, but only while the transaction that wrote the
  * record is open, and only its own thread looks at them. An all-zero header marks the unused end
  * of a page, which is why every record carries [[Present]].
  *
  * Methods take no allocation and may be called from any thread.
  */
object RowRecord {

  /** Bytes in front of the key. */
  val HeaderBytes: Int = 8

  /** Longest key, in bytes; the bits above it hold the flags. */
  val MaxKeyBytes: Int = (1 << 29) - 1

  /** Longest value, in bytes: the record has to fit into one array. */
  val MaxValueBytes: Int = (1 << 30) - 1

  private[table] val Present = 1 << 29

  /** The row takes the place of a row of the version that the transaction started from. */
  private[table] val ReplacesBase = 1 << 30

  /** A later change of the same transaction took the place of this one. */
  private[table] val Superseded = 1 << 31

  /** Bytes from the start of a record to the start of the next one. */
  def size(keyLength: Int, valueLength: Int): Int = (HeaderBytes + keyLength + valueLength + 7) & ~7

  def sizeAt(page: Array[Byte], offset: Int): Int =
    size(keyLength(page, offset), valueLength(page, offset))

  def keyLength(page: Array[Byte], offset: Int): Int = Bytes.getInt(page, offset) & MaxKeyBytes

  def valueLength(page: Array[Byte], offset: Int): Int = Bytes.getInt(page, offset + 4)

  def keyOffset(offset: Int): Int = offset + HeaderBytes

  def valueOffset(page: Array[Byte], offset: Int): Int =
    offset + HeaderBytes + keyLength(page, offset)

  /** Whether a record has a key. */
  private[table] def hasKey(
      page: Array[Byte],
      offset: Int,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int): Boolean =
    RowRecord.keyLength(page, offset) == keyLength &&
      Bytes.equal(page, RowRecord.keyOffset(offset), key, keyOffset, keyLength)

  private[table] def isPresent(page: Array[Byte], offset: Int): Boolean =
    offset + HeaderBytes <= page.length && (Bytes.getInt(page, offset) & Present) != 0

  private[table] def hasFlag(page: Array[Byte], offset: Int, flag: Int): Boolean =
    (Bytes.getInt(page, offset) & flag) != 0

  private[table] def setFlag(page: Array[Byte], offset: Int, flag: Int): Unit =
    Bytes.putInt(page, offset, Bytes.getInt(page, offset) | flag)

  private[table] def write(
      page: Array[Byte],
      offset: Int,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int): Unit = {
    Bytes.putInt(page, offset, keyLength | Present)
    Bytes.putInt(page, offset + 4, valueLength)
    System.arraycopy(key, keyOffset, page, offset + HeaderBytes, keyLength)
    System.arraycopy(value, valueOffset, page, offset + HeaderBytes + keyLength, valueLength)
  }
}
