package io.holdfast.table

/** Makes the next [[PageTimes]] out of one, copying only the segments that it changes.
  *
  * For one thread. After [[freeze]] all that was built so far is as immutable as a published table.
  *
  * @param eventTime
  *   where the time of a row lies
  * @param memory
  *   is told before anything is copied
  */
private[table] final class PageTimesWriter private (
    val eventTime: EventTime,
    base: Array[Array[Long]],
    memory: MemoryUse) {
  private[this] var segments = base
  private[this] var ownsTop = false
  private[this] var ownsSegment: Array[Boolean] = PageTimesWriter.OwnsNothing

  /** No row of the table in a page is before this time. */
  def least(id: Int): Long = PageTimes.least(segments, id)

  /** Heap bytes. */
  def bytes: Long = PageTimes.bytes(segments.length)

  /** Says that a page has a row of this time now. */
  def lower(id: Int, time: Long): Unit = if (time < least(id)) set(id, time)

  /** Says that a page has no row before a time. */
  def set(id: Int, time: Long): Unit = {
    val number = PageTable.segmentOf(id)
    if (number >= ownsSegment.length || !ownsSegment(number)) makeWritable(number)
    segments(number)(PageTable.indexInSegment(id)) = time
  }

  /** Says that a page is a new one, without rows. */
  def isNew(id: Int): Unit = if (least(id) != EventTime.Never) set(id, EventTime.Never)

  def freeze(): Unit = {
    ownsTop = false
    ownsSegment = PageTimesWriter.OwnsNothing
  }

  /** The times as they are now, good until the next change, or for good if [[freeze]] comes first. */
  def view: PageTimes = new PageTimes(eventTime, segments)

  /** The times as they are now. The writer may go on afterwards.
    *
    * @param pageEnd
    *   one more than the largest page id
    */
  def snapshot(pageEnd: Int): PageTimes = {
    freeze()
    val needed = PageTable.segmentOf(pageEnd - 1) + 1
    if (needed < segments.length) segments = segments.take(needed)
    view
  }

  private[this] def makeWritable(number: Int): Unit = {
    if (!ownsTop || number >= segments.length) ownTop(number + 1)
    if (!ownsSegment(number)) {
      memory.allocate(PageTimes.SegmentBytes)
      segments(number) = segments(number).clone()
      ownsSegment(number) = true
    }
  }

  private[this] def ownTop(atLeast: Int): Unit = {
    val before = segments.length
    val length = math.max(before, atLeast)
    memory.allocate((length - before) * PageTimes.SegmentBytes)
    val enlarged = java.util.Arrays.copyOf(segments, length)
    val owns = java.util.Arrays.copyOf(ownsSegment, length)
    var number = before
    while (number < length) {
      enlarged(number) = PageTimes.noRows()
      owns(number) = true
      number += 1
    }
    segments = enlarged
    ownsSegment = owns
    ownsTop = true
  }
}

private[table] object PageTimesWriter {
  private val OwnsNothing = new Array[Boolean](0)

  /** Goes on with what is known. */
  def of(base: PageTimes, memory: MemoryUse): PageTimesWriter =
    new PageTimesWriter(base.eventTime, base.segments, memory)

  /** Begins with pages of which nothing is known.
    *
    * @param pageEnd
    *   one more than the largest id of them
    */
  def unknown(eventTime: EventTime, pageEnd: Int, memory: MemoryUse): PageTimesWriter = {
    val segments = if (pageEnd == 1) 0 else PageTable.segmentOf(pageEnd - 1) + 1
    new PageTimesWriter(eventTime, Array.fill(segments)(PageTimes.unknown), memory)
  }
}
