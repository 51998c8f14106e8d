package io.holdfast.table

import java.util.Arrays

/** A walk over the values of one key, in their order. It shows them as they were when it was opened, and
  * stays good. For one thread; reused from key to key, and it allocates for keys with several parts
  * alone.
  *
  * @param parts
  *   the table of the parts above the first, of the same moment as the rows that it is opened on
  */
final class ListCursor(parts: RowsByKey) {
  import ListCursor._

  // The parts above the first.
  private[this] var pages = NoPages
  private[this] var offsets = NoOffsets
  private[this] var partKey = NoKey
  private[this] var count = 0
  // Of the parts that are found next.
  private[this] var hashes = NoHashes
  // Written so that the reads of `fetch` have a result, and are not left out.
  private[this] var fetched = 0L

  private[this] var part = 0
  private[this] var left = 0
  private[this] var bytes = NoKey
  private[this] var behind = 0
  private[this] var start = 0
  private[this] var size = 0

  /** Begins the walk over the values of a row.
    *
    * @param page
    *   where the row of the key lies: part 0
    * @throws IllegalStateException
    *   if a part is missing
    */
  def open(page: Array[Byte], offset: Int): Unit = {
    val first = RowRecord.valueOffset(page, offset)
    part = 0
    count = ListPart.parts(page, first) - 1
    if (count > 0) findParts(page, offset, count + 1)
    begin(page, first)
  }

  /** Begins a walk over the first value of a row alone.
    *
    * @throws IllegalStateException
    *   if the part with it is missing
    */
  def openFirst(page: Array[Byte], offset: Int): Unit = {
    val first = RowRecord.valueOffset(page, offset)
    part = 0
    count = 0
    if (ListPart.values(page, first) > 0) begin(page, first)
    else {
      count = 1
      findParts(page, offset, ListPart.parts(page, first))
      begin(pages(0), RowRecord.valueOffset(pages(0), offsets(0)))
      part = 1
    }
    left = 1
  }

  /** Goes to the next value.
    *
    * @return
    *   false when there is none
    */
  def next(): Boolean = {
    while (left == 0 && part < count) {
      begin(pages(part), RowRecord.valueOffset(pages(part), offsets(part)))
      part += 1
    }
    if (left == 0) false
    else {
      size = ListPart.length(bytes, behind)
      start = behind + ListPart.LengthBytes
      behind = start + size
      left -= 1
      true
    }
  }

  /** The page that the current value lies in. */
  def page: Array[Byte] = bytes

  /** Where the current value begins in [[page]]. */
  def offset: Int = start

  /** Bytes of the current value. */
  def length: Int = size

  /** Number of parts above the first that the walk is over, whose records are those at [[partPage]] and
    * [[partOffset]].
    */
  def partCount: Int = math.max(count, 0)
  def partPage(number: Int): Array[Byte] = pages(number)
  def partOffset(number: Int): Int = offsets(number)

  private[this] def begin(page: Array[Byte], value: Int): Unit = {
    bytes = page
    left = ListPart.values(page, value)
    behind = value + ListPart.HeaderBytes
  }

  // Found before any value is shown, so that what is shown is of one moment. The number of parts may come
  // from a damaged file: memory grows with what is found.
  private[this] def findParts(page: Array[Byte], offset: Int, told: Int): Unit = {
    val keyLength = RowRecord.keyLength(page, offset)
    val length = keyLength + ListPart.NumberBytes
    if (partKey.length < length) partKey = new Array[Byte](2 * length)
    System.arraycopy(page, RowRecord.keyOffset(offset), partKey, 0, keyLength)
    var found = 0
    while (found < count) {
      if (found % Ahead == 0) fetch(found, length)
      ListPart.writeNumber(partKey, keyLength, found + 1)
      val row = parts.find(partKey, 0, length)
      if (row == Rows.Absent) throw missing(found + 1, told)
      if (found == pages.length) {
        pages = Arrays.copyOf(pages, math.max(4, 2 * found))
        offsets = Arrays.copyOf(offsets, math.max(4, 2 * found))
      }
      pages(found) = parts.page(row)
      offsets(found) = Rows.offset(row)
      found += 1
    }
  }

  // Parts lie anywhere: read together, they wait for memory about once.
  private[this] def fetch(found: Int, length: Int): Unit = {
    val next = math.min(Ahead, count - found)
    if (next >= WorthFetching) {
      if (hashes.length == 0) hashes = new Array[Long](Ahead)
      var i = 0
      while (i < next) {
        ListPart.writeNumber(partKey, length - ListPart.NumberBytes, found + i + 1)
        hashes(i) = Bytes.hash(partKey, 0, length)
        i += 1
      }
      fetched = parts.fetch(hashes, next)
    }
  }
}

object ListCursor {

  // Processors have some 10 to 20 reads from memory under way at a time.
  private val Ahead = 32

  private val WorthFetching = 4

  private val NoHashes = new Array[Long](0)
  private val NoPages = new Array[Array[Byte]](0)
  private val NoOffsets = new Array[Int](0)
  private val NoKey = new Array[Byte](0)

  private[table] def missing(part: Int, parts: Int): IllegalStateException =
    new IllegalStateException(
      s"a key has a list of $parts parts, and part $part is not there; the state is damaged, restart " +
        "the query from a version that is not")
}
