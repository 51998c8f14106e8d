package io.holdfast.table

/** The layout of one row inside a page.
  *
  * {{{
  * | key length + flags, int32 | value length + flags, int32 | key | value | padding to 8 bytes |
  *   | table, int64 |
  * }}}
  *
  * All ints are little-endian. Key and value bytes never change once they are written. The flags
  * in the upper bits of the key length do change, but only while the transaction that wrote the
  * record is open, and only its own thread looks at them, or who tells rows early ([[WrittenRows]]).
  * Rows of the first table of a store have no table number; the flag in the upper bit of the value
  * length says that there is one. The flag next to it changes at any time, and is no more than a hint
  * ([[giveUp]]). Nothing in a page says where its records end: [[PageTable]] knows.
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

  /** The row takes the place of a row of the version that the transaction started from. */
  private[table] val ReplacesBase = 1 << 30

  /** A later change of the same transaction took the place of this one. */
  private[table] val Superseded = 1 << 31

  /** The row says in other columns what that of the version says that the transaction started from. */
  private[table] val Rewritten = 1 << 29

  /** The row is not of the first table of its store. */
  private val OfOtherTable = 1 << 31

  /** Some transaction has given the row up. It is the upper bit but one of the value length. */
  private val GivenUp = 0x40

  private val TableBytes = 8

  /** Bytes from the start of a record of the first table to the start of the next record. */
  def size(keyLength: Int, valueLength: Int): Int = (HeaderBytes + keyLength + valueLength + 7) & ~7

  /** Bytes from the start of a record to the start of the next one.
    *
    * @param table
    *   number of the table that the row is of
    */
  private[table] def size(keyLength: Int, valueLength: Int, table: Int): Int =
    size(keyLength, valueLength) + (if (table == 0) 0 else TableBytes)

  def sizeAt(page: Array[Byte], offset: Int): Int = {
    val value = Bytes.getInt(page, offset + 4)
    size(keyLength(page, offset), value & MaxValueBytes) + (if (value < 0) TableBytes else 0)
  }

  /** The words in front of a row, read together by a walk that looks at every record of a page. */
  private[table] def header(page: Array[Byte], offset: Int): Long = Bytes.getLong(page, offset)

  /** Bytes from the start of the record with a header to the start of the next one. */
  private[table] def size(header: Long): Int =
    size(keyLength(header), valueLength(header)) + (if (header < 0L) TableBytes else 0)

  private[table] def keyLength(header: Long): Int = header.toInt & MaxKeyBytes

  private[table] def valueLength(header: Long): Int = (header >>> 32).toInt & MaxValueBytes

  private[table] def isOfFirstTable(header: Long): Boolean = header >= 0L

  def keyLength(page: Array[Byte], offset: Int): Int = Bytes.getInt(page, offset) & MaxKeyBytes

  def valueLength(page: Array[Byte], offset: Int): Int =
    Bytes.getInt(page, offset + 4) & MaxValueBytes

  /** Number of the table that the row is of. */
  def table(page: Array[Byte], offset: Int): Int =
    if (Bytes.getInt(page, offset + 4) >= 0) 0
    else Bytes.getInt(page, offset + sizeAt(page, offset) - TableBytes)

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

  private[table] def hasFlag(page: Array[Byte], offset: Int, flag: Int): Boolean =
    (Bytes.getInt(page, offset) & flag) != 0

  private[table] def setFlag(page: Array[Byte], offset: Int, flag: Int): Unit =
    Bytes.putInt(page, offset, Bytes.getInt(page, offset) | flag)

  /** Says that a transaction has replaced or removed the row: it is most likely no row of any version
    * to come. The transaction may be given up itself, so the row may well be one.
    *
    * Any thread may say so while others read the record: the rest of the byte never changes.
    */
  private[table] def giveUp(page: Array[Byte], offset: Int): Unit =
    page(offset + 7) = (page(offset + 7) | GivenUp).toByte

  /** Whether some transaction has replaced or removed the row. */
  private[table] def isGivenUp(page: Array[Byte], offset: Int): Boolean =
    (page(offset + 7) & GivenUp) != 0

  /** Whether a row that a transaction wrote only says in other columns what its base says. */
  def isRewritten(page: Array[Byte], offset: Int): Boolean = hasFlag(page, offset, Rewritten)

  private[table] def write(
      page: Array[Byte],
      offset: Int,
      table: Int,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int): Unit = {
    Bytes.putInt(page, offset, keyLength)
    if (table == 0) Bytes.putInt(page, offset + 4, valueLength)
    else {
      Bytes.putInt(page, offset + 4, valueLength | OfOtherTable)
      Bytes.putInt(page, offset + size(keyLength, valueLength), table)
    }
    System.arraycopy(key, keyOffset, page, offset + HeaderBytes, keyLength)
    System.arraycopy(value, valueOffset, page, offset + HeaderBytes + keyLength, valueLength)
  }

  /** Copies a whole record without its flags. */
  private[table] def copy(
      from: Array[Byte],
      at: Int,
      page: Array[Byte],
      offset: Int,
      size: Int): Unit = {
    System.arraycopy(from, at, page, offset, size)
    Bytes.putInt(page, offset, keyLength(from, at))
    page(offset + 7) = (page(offset + 7) & ~GivenUp).toByte
  }
}
