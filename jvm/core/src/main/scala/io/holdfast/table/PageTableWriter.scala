package io.holdfast.table

import java.util.Arrays

/** Makes the next [[PageTable]] out of one, copying only the segments it changes.
  *
  * For one thread. After [[freeze]] everything that was built so far is as immutable as a published
  * table, and the next change copies again. Hot path: no allocation but for the first change of a
  * segment.
  *
  * @param memory
  *   is told before anything is copied
  */
private[table] final class PageTableWriter(base: PageTable, memory: MemoryUse) {
  import PageTableWriter._

  private[this] var table = base
  private[this] var ownsSegment = OwnsNothing
  private[this] var ownsTop = false

  /** The table as it is now, good until the next change, or for good if [[freeze]] comes first. */
  def current: PageTable = table

  /** Makes the segment of a page id this writer's own: until the next [[freeze]] no change of the page
    * allocates anything. Only here may a change fail for want of memory.
    */
  def writable(id: Int): Unit = {
    val number = PageTable.segmentOf(id)
    if (number >= ownsSegment.length || !ownsSegment(number)) makeWritable(number)
  }

  /** Adds a page without rows, whose id is [[writable]]. */
  def add(id: Int, page: Array[Byte]): Unit = {
    table.pages(PageTable.segmentOf(id))(PageTable.indexInSegment(id)) = page
    val facts = factsOf(id)
    facts(PageTable.liveIndex(id)) = 0
    facts(PageTable.endIndex(id)) = 0
  }

  /** Forgets a page. */
  def drop(id: Int): Unit = {
    writable(id)
    table.pages(PageTable.segmentOf(id))(PageTable.indexInSegment(id)) = null
  }

  /** Counts a row that was written to a page, whose id is [[writable]]: the last of its records. */
  def wrote(id: Int, offset: Int, size: Int): Unit = {
    val facts = factsOf(id)
    facts(PageTable.liveIndex(id)) += size
    facts(PageTable.endIndex(id)) = offset + size
  }

  /** Counts rows of a page that are no part of the result any more.
    *
    * @return
    *   bytes of the rows that are left in it
    */
  def released(id: Int, bytes: Int): Int = {
    writable(id)
    val facts = factsOf(id)
    val left = facts(PageTable.liveIndex(id)) - bytes
    facts(PageTable.liveIndex(id)) = left
    left
  }

  /** Makes all that was built so far immutable; later changes copy it. */
  def freeze(): Unit = {
    ownsTop = false
    ownsSegment = OwnsNothing
  }

  /** The table as it is now, without segments behind the last page. The writer may go on afterwards.
    *
    * @param end
    *   one more than the largest page id
    */
  def snapshot(end: Int): PageTable = {
    freeze()
    val segments = PageTable.segmentOf(end - 1) + 1
    if (segments == table.segments) table
    else new PageTable(table.pages.take(segments), table.facts.take(segments))
  }

  private[this] def factsOf(id: Int): Array[Int] = table.facts(PageTable.segmentOf(id))

  private[this] def makeWritable(number: Int): Unit = {
    if (!ownsTop || number >= table.segments) ownTop(number + 1)
    if (!ownsSegment(number)) ownSegment(number)
  }

  private[this] def ownSegment(number: Int): Unit = {
    memory.allocate(PageTable.SegmentBytes.toLong)
    val pages = table.pages(number).clone()
    val facts = table.facts(number).clone()
    table.pages(number) = pages
    table.facts(number) = facts
    ownsSegment(number) = true
  }

  private[this] def ownTop(atLeast: Int): Unit = {
    val before = table.segments
    val length = math.max(before, atLeast)
    memory.allocate((length - before).toLong * PageTable.SegmentBytes)
    val pages = Arrays.copyOf(table.pages, length)
    val facts = Arrays.copyOf(table.facts, length)
    val owns = Arrays.copyOf(ownsSegment, length)
    var number = before
    while (number < length) {
      pages(number) = PageTable.noPages()
      facts(number) = PageTable.noFacts()
      owns(number) = true
      number += 1
    }
    table = new PageTable(pages, facts)
    ownsSegment = owns
    ownsTop = true
  }
}

private[table] object PageTableWriter {
  private val OwnsNothing = new Array[Boolean](0)
}
