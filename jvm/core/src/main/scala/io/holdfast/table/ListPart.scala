package io.holdfast.table

/** The layout of a part of the values of a key, in a column family with several values for a key.
  *
  * The values of a key are cut into parts, so that to add one copies a part and not all of them. Part 0
  * is the row of the key; part `p` above it is the row of the key followed by `p`, in a table of its
  * own ([[Family.partTable]]). The value of such a row is
  * {{{
  * | parts, int32 | values, int32 | kept, int32 | renewed, int32 |
  * | length, int64 | value |   for each of the values
  * }}}
  * with little-endian numbers. `parts` is the number of parts in part 0, and 0 in others. Part 0 has
  * no values where the first is larger than a part, since it is written again with each part that
  * comes; any other part has some. The first `kept` values were in the part already in the version that
  * the transaction started from which wrote it, perhaps in other columns. `renewed` is 1 in part 0 of a
  * list that is not the one of that version with values added, and else 0. Values have whole words, so
  * that they lie where rows are read best. Any thread may call.
  */
object ListPart {

  /** Bytes in front of the values. */
  val HeaderBytes: Int = 16

  /** Bytes in front of a value. */
  val LengthBytes: Int = 8

  /** Bytes behind the key in the keys of parts above the first. */
  val NumberBytes: Int = 8

  /** A value that would make a part longer than this begins another one. */
  val MaxBytes: Int = 1024

  def parts(bytes: Array[Byte], offset: Int): Int = Bytes.getInt(bytes, offset)

  def values(bytes: Array[Byte], offset: Int): Int = Bytes.getInt(bytes, offset + 4)

  def kept(bytes: Array[Byte], offset: Int): Int = Bytes.getInt(bytes, offset + 8)

  /** Whether a list, of which this is part 0, is another one than that of the version before. */
  def isRenewed(bytes: Array[Byte], offset: Int): Boolean = Bytes.getInt(bytes, offset + 12) != 0

  private[table] def setParts(bytes: Array[Byte], parts: Int): Unit = Bytes.putInt(bytes, 0, parts)

  private[table] def setValues(bytes: Array[Byte], values: Int): Unit =
    Bytes.putInt(bytes, 4, values)

  private[table] def setKept(bytes: Array[Byte], kept: Int): Unit = Bytes.putInt(bytes, 8, kept)

  private[table] def setRenewed(bytes: Array[Byte], isRenewed: Boolean): Unit =
    Bytes.putInt(bytes, 12, if (isRenewed) 1 else 0)

  private[table] def writeHeader(bytes: Array[Byte], parts: Int, values: Int, kept: Int): Unit = {
    Bytes.putInt(bytes, 0, parts)
    Bytes.putInt(bytes, 4, values)
    Bytes.putInt(bytes, 8, kept)
    Bytes.putInt(bytes, 12, 0)
  }

  /** Length of the value whose length lies at an offset. */
  def length(bytes: Array[Byte], offset: Int): Int = Bytes.getInt(bytes, offset)

  private[table] def writeLength(bytes: Array[Byte], offset: Int, length: Int): Unit = {
    Bytes.putInt(bytes, offset, length)
    Bytes.putInt(bytes, offset + 4, 0)
  }

  /** The number of a part, behind a key of some length. */
  def number(key: Array[Byte], keyLength: Int): Int = Bytes.getInt(key, keyLength)

  private[table] def writeNumber(bytes: Array[Byte], offset: Int, number: Int): Unit = {
    Bytes.putInt(bytes, offset, number)
    Bytes.putInt(bytes, offset + 4, 0)
  }

  /** Says what is wrong with a part that somebody else wrote, or null.
    *
    * @param isFirst
    *   whether it is part 0
    */
  def problem(bytes: Array[Byte], offset: Int, length: Int, isFirst: Boolean): String =
    if (length < HeaderBytes)
      s"expected a list with $HeaderBytes bytes in front, found $length bytes"
    else if (isFirst && parts(bytes, offset) < 1)
      s"expected a list of one part or more, found ${parts(bytes, offset)} parts"
    else {
      val end = offset + length
      var at = offset + HeaderBytes
      var left = values(bytes, offset)
      var fits = left > 0 || (left == 0 && isFirst && parts(bytes, offset) > 1)
      while (fits && left > 0) {
        fits = end - at >= LengthBytes && Bytes.getInt(bytes, at + 4) == 0 && {
          val value = ListPart.length(bytes, at)
          value >= 0 && (value & 7) == 0 && value <= end - at - LengthBytes
        }
        if (fits) at += LengthBytes + ListPart.length(bytes, at)
        left -= 1
      }
      if (fits && at == end) null
      else
        s"expected ${values(bytes, offset)} values of whole words in $length bytes, found others"
    }
}
