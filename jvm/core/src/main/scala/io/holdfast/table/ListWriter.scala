package io.holdfast.table

import java.util.Arrays

import io.holdfast.file.RowChecksum

/** Changes the lists of a column family with several values for a key.
  *
  * A change is told in three steps, so that nothing is collected on the way:
  * {{{
  * lists.begin(key, 0, key.length, append = true)
  * lists.add(value, 0, value.length)   // for each value
  * lists.finish()
  * }}}
  * Parts are put as they are full. So if one of the steps fails, or what gives the values does and says
  * so ([[fail]]), the transaction can only be aborted: it never commits half of a change. For one
  * thread.
  *
  * @param heads
  *   the table with a row for each key
  * @param parts
  *   the table with the parts above the first
  * @param rowChecksums
  *   whether rows are kept with their checksum behind the value
  */
final class ListWriter(heads: TableWriter, parts: TableWriter, rowChecksums: Boolean) {
  import ListWriter._

  private[this] val trailerBytes = if (rowChecksums) RowChecksum.TrailerBytes else 0
  private[this] val tail = new Part
  // Whether the tail is another one than the part that was read.
  private[this] var tailChanged = false
  // Part 0, which has to say how many there are, if it is another one than the tail.
  private[this] val head = new Part
  private[this] var hasHead = false
  // The key, and room for the number of a part.
  private[this] var key = new Array[Byte](64)
  private[this] var keyLength = 0
  private[this] var before = 0
  private[this] var number = 0
  private[this] var added = false
  // How many of the next values the base has.
  private[this] var keptToCome = 0

  /** Begins a change of the list of a key.
    *
    * @param append
    *   whether values are added to those that the key has; else they take their place
    */
  def begin(bytes: Array[Byte], keyOffset: Int, length: Int, append: Boolean): Unit = {
    setKey(bytes, keyOffset, length)
    val row = heads.find(key, 0, keyLength)
    before = if (row == Rows.Absent) 0 else partsOf(row)
    hasHead = false
    keptToCome = 0
    tailChanged = false
    added = !append
    if (append && before > 0) {
      number = before - 1
      if (number == 0) tail.read(heads, row) else tail.read(parts, find(number))
    } else {
      number = 0
      tail.clear()
      tail.setRenewed(!append || heads.wasRemoved(key, 0, keyLength))
    }
  }

  /** Begins to write all values of a key again, which say in other columns what they say now: those that
    * are kept stay so.
    */
  def beginAgain(bytes: Array[Byte], keyOffset: Int, length: Int): Unit = {
    begin(bytes, keyOffset, length, append = false)
    if (before > 0) {
      head.read(heads, heads.find(key, 0, keyLength))
      tail.setRenewed(head.isRenewed)
      keptToCome = head.kept
      (1 until before).foreach { part =>
        head.read(parts, find(part))
        keptToCome += head.kept
      }
    }
  }

  /** Adds a value behind those that there are.
    *
    * @throws IllegalArgumentException
    *   if the value is not of whole words
    */
  def add(value: Array[Byte], offset: Int, length: Int): Unit =
    try addNow(value, offset, length)
    catch { case e: Throwable => fail(e) }

  private[this] def addNow(value: Array[Byte], offset: Int, length: Int): Unit = {
    if ((length & 7) != 0) {
      throw new IllegalArgumentException(
        s"values in lists have whole words of 8 bytes, and one has $length bytes")
    }
    if (tail.isFullFor(length) && (tail.values > 0 || number == 0)) beginPart()
    tail.add(value, offset, length)
    tailChanged = true
    added = true
  }

  // Part 0 is written again with each part that comes, so that a value larger than a part is in none but
  // its own, also as the first.
  private[this] def beginPart(): Unit = {
    if (number == 0) {
      head.copy(tail)
      hasHead = true
    } else if (tailChanged) put(tail, number)
    number += 1
    tail.clear()
  }

  /** Makes the change. A key whose list has no values has none. */
  def finish(): Unit =
    try
      if (added) {
        if (tail.values == 0) removeKey() else finishParts()
      }
    catch { case e: Throwable => fail(e) }

  private[this] def finishParts(): Unit = {
    val after = number + 1
    if (number == 0) tail.setParts(after) else finishHead(after)
    put(tail, number)
    (after until before).foreach(removePart)
  }

  /** Says that a change that was begun cannot be finished, and fails with the error. */
  def fail(e: Throwable): Nothing = heads.fail(e)

  /** Removes a key with its list. */
  def remove(bytes: Array[Byte], keyOffset: Int, length: Int): Unit = {
    setKey(bytes, keyOffset, length)
    val row = heads.find(key, 0, keyLength)
    before = if (row == Rows.Absent) 0 else partsOf(row)
    removeKey()
  }

  private[this] def removeKey(): Unit =
    if (before > 0) {
      heads.remove(key, 0, keyLength)
      (1 until before).foreach(removePart)
    }

  private[this] def removePart(part: Int): Unit = {
    ListPart.writeNumber(key, keyLength, part)
    parts.remove(key, 0, keyLength + ListPart.NumberBytes)
  }

  // Part 0 changes with the number of parts.
  private[this] def finishHead(after: Int): Unit =
    if (hasHead || after != before) {
      if (!hasHead) head.read(heads, heads.find(key, 0, keyLength))
      head.setParts(after)
      put(head, 0)
    }

  private[this] def put(part: Part, at: Int): Unit = {
    val length = if (at == 0) keyLength else keyLength + ListPart.NumberBytes
    if (at > 0) ListPart.writeNumber(key, keyLength, at)
    part.finish(key, length)
    val table = if (at == 0) heads else parts
    table.put(key, 0, length, part.bytes, 0, part.used + trailerBytes)
  }

  private[this] def partsOf(row: Long): Int = {
    val page = heads.page(row)
    ListPart.parts(page, RowRecord.valueOffset(page, Rows.offset(row)))
  }

  private[this] def find(part: Int): Long = {
    ListPart.writeNumber(key, keyLength, part)
    val row = parts.find(key, 0, keyLength + ListPart.NumberBytes)
    if (row == Rows.Absent) throw ListCursor.missing(part, before)
    row
  }

  private[this] def setKey(bytes: Array[Byte], offset: Int, length: Int): Unit = {
    if (length > RowRecord.MaxKeyBytes - ListPart.NumberBytes) {
      throw TableWriter.rowTooLong(length, 0)
    }
    if (key.length < length + ListPart.NumberBytes) {
      key = new Array[Byte](math.min(2L * length + ListPart.NumberBytes, Int.MaxValue - 64L).toInt)
    }
    System.arraycopy(bytes, offset, key, 0, length)
    keyLength = length
  }

  /** A part that is being made. */
  private final class Part {
    private[this] var part = new Array[Byte](2 * ListPart.MaxBytes)
    private[this] var length = ListPart.HeaderBytes
    private[this] var count = 0

    def bytes: Array[Byte] = part

    /** Bytes without checksum. */
    def used: Int = length

    def values: Int = count

    /** Whether a value more would make it longer than a part should be. */
    def isFullFor(size: Int): Boolean =
      length.toLong + ListPart.LengthBytes + size > ListPart.MaxBytes

    def clear(): Unit = {
      // A large value is not kept for the next keys.
      if (part.length > MaxKeptBytes) part = new Array[Byte](2 * ListPart.MaxBytes)
      length = ListPart.HeaderBytes
      count = 0
      ListPart.writeHeader(part, parts = 0, values = 0, kept = 0)
    }

    /** Takes a part as it is. Values that the base has are kept. */
    def read(table: TableWriter, row: Long): Unit = {
      clear()
      val page = table.page(row)
      val offset = Rows.offset(row)
      length = RowRecord.valueLength(page, offset) - trailerBytes
      reserve(0)
      System.arraycopy(page, RowRecord.valueOffset(page, offset), part, 0, length)
      count = ListPart.values(part, 0)
      if (!table.wrote(row)) {
        ListPart.setKept(part, count)
        setRenewed(false)
      }
    }

    def kept: Int = ListPart.kept(part, 0)

    def isRenewed: Boolean = ListPart.isRenewed(part, 0)

    def setRenewed(isRenewed: Boolean): Unit = ListPart.setRenewed(part, isRenewed)

    def copy(other: Part): Unit = {
      length = other.used
      count = other.values
      reserve(0)
      System.arraycopy(other.bytes, 0, part, 0, length)
    }

    def add(value: Array[Byte], offset: Int, size: Int): Unit = {
      reserve(ListPart.LengthBytes.toLong + size)
      ListPart.writeLength(part, length, size)
      System.arraycopy(value, offset, part, length + ListPart.LengthBytes, size)
      length += ListPart.LengthBytes + size
      count += 1
      if (keptToCome > 0) {
        keptToCome -= 1
        ListPart.setKept(part, kept + 1)
      }
    }

    def setParts(parts: Int): Unit = ListPart.setParts(part, parts)

    def finish(ofKey: Array[Byte], ofLength: Int): Unit = {
      ListPart.setValues(part, count)
      if (rowChecksums) {
        val checksum = RowChecksum.of(ofKey, 0, ofLength, part, 0, length)
        RowChecksum.putTrailer(part, length, checksum)
      }
    }

    // Makes room for bytes behind those that there are, and a checksum.
    private[this] def reserve(more: Long): Unit = {
      val needed = length + more + RowChecksum.TrailerBytes
      if (needed > RowRecord.MaxValueBytes) throw TableWriter.rowTooLong(keyLength, more.toInt)
      if (part.length < needed) part = Arrays.copyOf(part, needed.toInt)
    }
  }
}

private object ListWriter {
  private val MaxKeptBytes = 1 << 20
}
