package io.holdfast.table

/** What a table knows of the times of its rows: for each page one that no row of the table in that
  * page is before, most often the least of them. A row that was replaced or removed may have been the
  * one that it came from, so it may be too early, which costs a look at the page, and never too late.
  *
  * Immutable for everybody but the [[PageTimesWriter]] that made it. Any thread may read.
  *
  * @param eventTime
  *   where the time of a row lies
  * @param segments
  *   of page `id`, `segments(id / SegmentPages)(id % SegmentPages)`: cut like a [[PageTable]], and
  *   perhaps shorter
  */
private[table] final class PageTimes(
    val eventTime: EventTime,
    private[table] val segments: Array[Array[Long]]) {

  /** No row of the table in a page is before this time. */
  def least(id: Int): Long = PageTimes.least(segments, id)

  /** Heap bytes. */
  def bytes: Long = PageTimes.bytes(segments.length)
}

private[table] object PageTimes {
  private val ArrayHeaderBytes = 16
  private val ReferenceBytes = 4

  /** Heap bytes of a segment. */
  val SegmentBytes: Long =
    ArrayHeaderBytes + PageTable.SegmentPages * java.lang.Long.BYTES.toLong

  /** Heap bytes of the times in so many segments. */
  def bytes(segments: Int): Long =
    ArrayHeaderBytes + segments * (ReferenceBytes + SegmentBytes)

  /** Pages of which nothing is known. */
  val unknown: Array[Long] = Array.fill(PageTable.SegmentPages)(EventTime.Always)

  /** Pages without rows of the table. */
  def noRows(): Array[Long] = Array.fill(PageTable.SegmentPages)(EventTime.Never)

  def least(segments: Array[Array[Long]], id: Int): Long = {
    val number = PageTable.segmentOf(id)
    if (number < segments.length) segments(number)(PageTable.indexInSegment(id))
    else EventTime.Never
  }
}
