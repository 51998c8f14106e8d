package io.holdfast.table

/** Makes the next [[RowPages]] out of one: appends rows, and counts the live bytes of every page.
  *
  * For one thread. After [[freeze]] all that was built so far is as immutable as a published table.
  *
  * @param base
  *   the pages of the version the transaction started from
  * @param baseTail
  *   the page to go on filling if no other transaction does
  */
private[table] final class RowPagesWriter(base: RowPages, baseTail: TailPage) {
  private[this] var pages = base.pages
  private[this] var live = base.live
  private[this] var ends = base.ends
  private[this] var ownsSegment: Array[Boolean] = RowPagesWriter.OwnsNothing
  private[this] var ownsTop = false
  private[this] var end = base.end
  private[this] var freeIds = base.freeIds
  private[this] var liveBytes = base.liveBytes
  private[this] var heldBytes = base.heldBytes
  private[this] var freedBytes = 0L
  private[this] var appendedBytes = 0L
  private[this] var releasedBytes = 0L
  private[this] var emptiedPages = 0

  private[this] var tail: TailPage = TailPage.none
  private[this] var newestTail = baseTail
  private[this] var tailUsed = 0
  private[this] var tailRegion = -1
  private[this] var triedBaseTail = false

  // First byte of the base's tail that is this transaction's own.
  private[this] var baseTailStart = Int.MaxValue

  // One bit for each page id: whether this transaction allocated the page.
  private[this] var allocated = RowPagesWriter.NoPages
  private[this] val regions = new RegionList

  private[this] var fetched = 0

  /** The current page table, for reading rows. */
  def table: Array[Array[Array[Byte]]] = pages

  def page(id: Int): Array[Byte] = RowPages.page(pages, id)
  def liveTotal: Long = liveBytes
  def held: Long = heldBytes

  /** Bytes of pages of the base that are no part of the result any more. */
  def freed: Long = freedBytes

  /** Bytes of rows written so far. */
  def appended: Long = appendedBytes

  /** Bytes of rows given up so far. */
  def released: Long = releasedBytes

  /** Whether a page may have lost its last row. */
  def hasEmptiedPages: Boolean = emptiedPages > 0

  /** The parts of pages that this transaction has written, in the order of writing. */
  def written(): RegionList = {
    if (tail ne TailPage.none) regions.setEnd(tailRegion, tailUsed)
    regions
  }

  /** Copies a row into a page.
    *
    * @return
    *   the row's address, as a [[Slot]] without hash
    */
  def append(
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int): Long = {
    val size = RowRecord.size(keyLength, valueLength)
    val address = reserve(size)
    RowRecord.write(
      page(Slot.page(address)),
      Slot.offset(address),
      key,
      keyOffset,
      keyLength,
      value,
      valueOffset,
      valueLength)
    address
  }

  /** Reads the beginnings of some rows, as [[RowPages.fetch]] does. */
  def fetch(slots: Array[Long], count: Int): Unit = fetched = RowPages.fetch(pages, slots, count)

  /** Says that the row at an address is no part of the result any more. */
  def release(address: Long): Unit = {
    val id = Slot.page(address)
    val size = RowRecord.sizeAt(page(id), Slot.offset(address))
    val left = addLive(id, -size)
    releasedBytes += size
    if (left == 0) emptiedPages += 1
  }

  /** Whether this transaction wrote the row at an address. */
  def wrote(address: Long): Boolean = {
    val id = Slot.page(address)
    isAllocated(id) || (id == baseTail.id && Slot.offset(address) >= baseTailStart)
  }

  /** Forgets a page without live rows. Its id is given out again by later transactions. */
  def free(id: Int): Unit = {
    val old = page(id)
    writable(id)
    pages(RowPages.segmentOf(id))(RowPages.indexInSegment(id)) = null
    heldBytes -= RowPages.bytes(old)
    if (!isAllocated(id)) freedBytes += RowPages.bytes(old)
    freeIds = id :: freeIds
  }

  def liveOf(id: Int): Int = live(RowPages.segmentOf(id))(RowPages.indexInSegment(id))

  /** Where the records of a page end if all of them are rows, and 0 otherwise. */
  def endOfRows(id: Int): Int = {
    val end = ends(RowPages.segmentOf(id))(RowPages.indexInSegment(id))
    if (liveOf(id) == end) end else 0
  }

  def pageEnd: Int = end

  def isTail(id: Int): Boolean = (tail ne TailPage.none) && tail.id == id

  def freeze(): Unit = {
    ownsTop = false
    ownsSegment = RowPagesWriter.OwnsNothing
  }

  def snapshot(): RowPages = {
    freeze()
    new RowPages(pages, live, ends, end, freeIds, liveBytes, heldBytes)
  }

  /** Lets go of the tail page, so that another transaction may fill it. Nothing may be appended
    * afterwards.
    */
  def close(): Unit = if (tail ne TailPage.none) closeTail()

  /** The tail of the version that this transaction becomes. */
  def lastTail: TailPage =
    if (isHeld(newestTail)) newestTail else TailPage.none

  private[this] def reserve(size: Int): Long = {
    val address =
      if (size > RowPages.MaxSharedRowBytes) reserveOwnPage(size)
      else {
        if (!fits(size)) nextTail(size)
        val offset = tailUsed
        tailUsed += size
        Slot(0L, tail.id, offset)
      }
    appendedBytes += size
    addLive(Slot.page(address), size)
    setEnd(Slot.page(address), Slot.offset(address) + size)
    address
  }

  private[this] def fits(size: Int): Boolean = tail.page.length - tailUsed >= size

  private[this] def nextTail(size: Int): Unit = {
    if (tail ne TailPage.none) closeTail()
    if (!triedBaseTail) claimBaseTail()
    if (!fits(size)) {
      if (tail ne TailPage.none) closeTail()
      val id = allocate(RowPages.capacityFor(heldBytes, size))
      val fresh = new TailPage(id, page(id))
      fresh.claim(this)
      open(fresh, 0)
    }
  }

  private[this] def claimBaseTail(): Unit = {
    triedBaseTail = true
    if (isHeld(baseTail) && baseTail.claim(this)) {
      baseTailStart = baseTail.used
      open(baseTail, baseTailStart)
    }
  }

  // Compaction may have dropped the page, and its id may be another's by now.
  private[this] def isHeld(tail: TailPage): Boolean =
    (tail ne TailPage.none) && (page(tail.id) eq tail.page)

  private[this] def open(page: TailPage, used: Int): Unit = {
    tail = page
    newestTail = page
    tailUsed = used
    tailRegion = regions.add(page.id, used)
  }

  private[this] def closeTail(): Unit = {
    regions.setEnd(tailRegion, tailUsed)
    tail.release(tailUsed)
    tail = TailPage.none
    tailUsed = 0
  }

  // A row too large to share a page gets an array of just its size. The tail stays the tail.
  private[this] def reserveOwnPage(size: Int): Long = {
    val id = allocate(size)
    regions.setEnd(regions.add(id, 0), size)
    Slot(0L, id, 0)
  }

  private[this] def allocate(capacity: Int): Int = {
    val id = freeIds match {
      case free :: rest =>
        freeIds = rest
        free
      case Nil =>
        if (end == Slot.MaxPages) {
          throw new IllegalStateException(
            s"a state store partition holds at most ${Slot.MaxPages - 1} row pages and this one is " +
              s"full ($heldBytes bytes); use more shuffle partitions so that each holds fewer rows")
        }
        end += 1
        end - 1
    }
    writable(id)
    pages(RowPages.segmentOf(id))(RowPages.indexInSegment(id)) = new Array[Byte](capacity)
    live(RowPages.segmentOf(id))(RowPages.indexInSegment(id)) = 0
    setEnd(id, 0)
    heldBytes += RowPages.bytes(page(id))
    markAllocated(id)
    id
  }

  private[this] def markAllocated(id: Int): Unit = {
    val word = id >>> 6
    if (word >= allocated.length) {
      allocated = java.util.Arrays.copyOf(allocated, math.max(word + 1, allocated.length * 2))
    }
    allocated(word) |= 1L << (id & 63)
  }

  private[this] def isAllocated(id: Int): Boolean =
    (id >>> 6) < allocated.length && (allocated(id >>> 6) >>> (id & 63) & 1L) != 0

  private[this] def addLive(id: Int, change: Int): Int = {
    writable(id)
    val segment = live(RowPages.segmentOf(id))
    val index = RowPages.indexInSegment(id)
    segment(index) += change
    liveBytes += change
    segment(index)
  }

  private[this] def setEnd(id: Int, bytes: Int): Unit =
    ends(RowPages.segmentOf(id))(RowPages.indexInSegment(id)) = bytes

  // Makes the segment of a page id this writer's own.
  private[this] def writable(id: Int): Unit = {
    val number = RowPages.segmentOf(id)
    if (!ownsTop || number >= pages.length) ownTop(number + 1)
    if (!ownsSegment(number)) {
      pages(number) = pages(number).clone()
      live(number) = live(number).clone()
      ends(number) = ends(number).clone()
      ownsSegment(number) = true
    }
  }

  private[this] def ownTop(atLeast: Int): Unit = {
    val before = pages.length
    val length = math.max(before, atLeast)
    pages = java.util.Arrays.copyOf(pages, length)
    live = java.util.Arrays.copyOf(live, length)
    ends = java.util.Arrays.copyOf(ends, length)
    ownsSegment = java.util.Arrays.copyOf(ownsSegment, length)
    ownsTop = true
    var number = before
    while (number < length) {
      pages(number) = new Array[Array[Byte]](RowPages.SegmentPages)
      live(number) = new Array[Int](RowPages.SegmentPages)
      ends(number) = new Array[Int](RowPages.SegmentPages)
      ownsSegment(number) = true
      number += 1
    }
  }
}

private[table] object RowPagesWriter {
  private val OwnsNothing = new Array[Boolean](0)
  private val NoPages = new Array[Long](0)
}
