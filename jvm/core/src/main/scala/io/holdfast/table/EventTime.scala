package io.holdfast.table

/** Where in the bytes of a row the time lies that decides when the row expires.
  *
  * Keys and values are taken for Spark's `UnsafeRow`s (Spark 2.0 to 4.3): a bit for every column that
  * is null, in whole words; then a word for each column, which is its value, or for a struct where in
  * the row it lies (upper half) and how long it is (lower half). Words are in the byte order of the
  * machine. A struct is laid out like a row.
  *
  * Immutable; equal if all its parts are. Any thread may read with it.
  *
  * @param inKey
  *   whether the column is one of the key, or of the value
  * @param column
  *   the column that is the time, or the struct that has it
  * @param nested
  *   the column inside that struct, as the end of a window is
  * @param never
  *   a value that says that the row never expires
  * @param nullNever
  *   whether null says so too
  */
final case class EventTime(
    inKey: Boolean,
    column: EventTime.Column,
    nested: Option[EventTime.Column] = None,
    never: Option[Long] = None,
    nullNever: Boolean = false) {
  import EventTime._

  private[this] val inner = nested.orNull
  private[this] val hasNever = never.isDefined
  private[this] val neverTime = never.getOrElse(0L)
  private[this] val timeOfNull = if (nullNever) Never else Always

  /** The time of a row.
    *
    * @return
    *   the column's value in its own unit; [[EventTime.Always]] where there is none, because it is
    *   null, if that says nothing else, or the bytes are no such row; [[EventTime.Never]] where it says
    *   that the row never expires
    */
  def read(
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int): Long =
    if (inKey) read(key, keyOffset, keyLength) else read(value, valueOffset, valueLength)

  /** The time of the row whose record begins at an offset of a page, as [[read]] gives it. */
  private[table] def of(page: Array[Byte], offset: Int): Long =
    of(page, offset, RowRecord.header(page, offset))

  /** The time of the row whose record begins at an offset of a page with a header. */
  private[table] def of(page: Array[Byte], offset: Int, header: Long): Long = {
    val key = RowRecord.keyOffset(offset)
    val keyLength = RowRecord.keyLength(header)
    if (inKey) read(page, key, keyLength)
    else read(page, key + keyLength, RowRecord.valueLength(header))
  }

  private[this] def read(row: Array[Byte], start: Int, length: Int): Long =
    if (!column.isIn(length)) Always
    else if (column.isNull(row, start)) timeOfNull
    else {
      val word = column.word(row, start)
      if (inner == null) known(word) else readNested(row, start, length, word)
    }

  private[this] def readNested(row: Array[Byte], start: Int, length: Int, place: Long): Long = {
    val offset = place >>> 32
    val size = place & 0xffffffffL
    if (offset + size > length) Always
    else {
      val struct = start + offset.toInt
      if (!inner.isIn(size.toInt)) Always
      else if (inner.isNull(row, struct)) timeOfNull
      else known(inner.word(row, struct))
    }
  }

  private[this] def known(time: Long): Long = if (hasNever && time == neverTime) Never else time
}

object EventTime {

  /** Time of a row that has none: it is looked at whenever expired rows are. */
  val Always: Long = Long.MinValue

  /** Time of a row that does not expire. */
  val Never: Long = Long.MaxValue

  /** A column of a row.
    *
    * @param fields
    *   number of columns that the row has
    * @param ordinal
    *   which of them it is, from 0
    * @throws IllegalArgumentException
    *   if the row has no such column
    */
  final case class Column(fields: Int, ordinal: Int) {
    require(
      0 <= ordinal && ordinal < fields,
      s"column $ordinal of a row of $fields columns does not exist: they are numbered from 0")

    private[this] val words = (fields + 63) / 64
    private[this] val fixedBytes = 8L * (words + fields)
    private[this] val nullWord = 8 * (ordinal / 64)
    private[this] val nullBit = 1L << ordinal
    private[this] val slot = 8 * (words + ordinal)

    /** Whether a row of so many bytes is long enough for the column. */
    private[EventTime] def isIn(length: Int): Boolean = length >= fixedBytes

    private[EventTime] def isNull(row: Array[Byte], start: Int): Boolean =
      (Bytes.getNativeLong(row, start + nullWord) & nullBit) != 0L

    private[EventTime] def word(row: Array[Byte], start: Int): Long =
      Bytes.getNativeLong(row, start + slot)
  }
}
