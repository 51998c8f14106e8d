package io.holdfast.table

/** Makes the next [[RowPages]] out of one: appends rows, and keeps the facts of every page.
  *
  * For one thread. After [[freeze]] all that was built so far is as immutable as a published table.
  *
  * Memory that cannot be had must cost nothing but the transaction: whatever may fail to allocate
  * comes before the bytes of a row are written, and what counts them comes after. Others see only
  * the tail page, of which they know where its last whole record ends.
  *
  * @param base
  *   the pages of the version the transaction started from
  * @param baseTail
  *   the page to go on filling if no other transaction does
  * @param memory
  *   is told before anything is allocated that the result keeps
  */
private[table] final class RowPagesWriter(base: RowPages, baseTail: TailPage, memory: MemoryUse) {
  private[this] val pageTable = new PageTableWriter(base.table, memory)
  private[this] var ids = base.ids
  private[this] var liveBytes = base.liveBytes
  private[this] var pageBytes = base.pageBytes
  private[this] var freedBytes = 0L
  private[this] var appendedBytes = 0L
  private[this] var releasedBytes = 0L
  // Pages that have lost their last row, some of them more than once; the first so many.
  private[this] var emptied = RowPagesWriter.NoIds
  private[this] var emptiedCount = 0

  // `tail` is the page that rows go into: none at first; with the first row that of the base, if nobody
  // else fills it and it is still there, which is tried once (`triedBaseTail`); then fresh pages, one
  // after the other. It is none again between two pages, and from `close` on. `newestTail` outlives it: it
  // is what the next transaction goes on filling, the page that was `tail` last or, where none was yet,
  // that of the base. Only `leaveTail` makes it none.
  private[this] var tail: TailPage = TailPage.none
  private[this] var newestTail = baseTail
  private[this] var tailUsed = 0
  private[this] var tailRegion = -1
  private[this] var triedBaseTail = false

  // First byte of the base's tail that is this transaction's own; none is until it is `tail`.
  private[this] var baseTailStart = Int.MaxValue

  private[this] val own = new OwnPages
  private[this] val regions = new RegionList
  // By page id while pages are given back in the midst of the transaction.
  private[this] var regionOf = RowPagesWriter.NoRegions
  private[this] val early = new RowsToldEarly(regions)
  private[this] var beforePage: Runnable = RowPagesWriter.Nothing

  private[this] var fetched = 0

  private[this] var times = RowPagesWriter.NoTimes

  /** The current page table, for reading rows. */
  def table: PageTable = pageTable.current

  def page(id: Int): Array[Byte] = pageTable.current.page(id)
  def live: Long = liveBytes

  /** Heap bytes of all pages, without the page table. */
  def held: Long = pageBytes

  /** Heap bytes of pages and page table. */
  def bytes: Long = pageBytes + pageTable.current.bytes

  /** Bytes of pages of the base that are no part of the result any more. */
  def freed: Long = freedBytes

  /** Bytes of rows written so far. */
  def appended: Long = appendedBytes

  /** Bytes of rows given up so far. */
  def released: Long = releasedBytes

  /** Whether a page may have lost its last row. */
  def hasEmptiedPages: Boolean = emptiedCount > 0

  /** Forgets the pages that have lost their last row, but for the one that rows are appended to. */
  def freeEmptied(): Unit = {
    val count = emptiedCount
    emptiedCount = 0
    var i = 0
    while (i < count) {
      val id = emptied(i)
      if (id < ids.end && page(id) != null && table.live(id) == 0) {
        if (isOpen(id)) lostLastRow(id) else free(id)
      }
      i += 1
    }
  }

  /** Takes in times that are to be told of new pages. */
  def add(kept: PageTimesWriter): Unit = times = times :+ kept

  /** Has something done before each page that is allocated, when no row is half written: it may append
    * and give back pages.
    */
  def beforeEachPage(what: Runnable): Unit = beforePage = what

  /** Tells somebody early of rows from now on; nothing was written yet. */
  def tellEarly(to: EarlyRows): Unit = early.tell(to)

  /** Heap bytes of the pages that this transaction has allocated. */
  def ownHeld: Long = own.held

  /** Whether this transaction allocated a page. */
  def isOwn(id: Int): Boolean = own.has(id)

  /** Whether it has replaced more of its own rows than it should keep. */
  def ownAreWasteful: Boolean = own.areWasteful(appendedBytes)

  /** Whether more of its own pages should be given back, once that was begun. */
  def ownAreSparse(slack: Long): Boolean = own.areSparse(appendedBytes, slack)

  /** Gives back pages of this transaction's own while it goes on: what it has written is told without
    * them.
    */
  def givingBackOwn(give: => Unit): Unit = {
    early.void()
    regionOf = regions.byPage(ids.end)
    try give
    finally {
      regionOf = RowPagesWriter.NoRegions
      tailRegion = regions.pack(tailRegion)
    }
  }

  /** The parts of pages that this transaction has written, in the order of writing. */
  def written(): RegionList = {
    if (tail ne TailPage.none) regions.setEnd(tailRegion, tailUsed)
    regions
  }

  /** How many of those parts, the first ones, hold rows that can be told before anything else. */
  def writtenEarly: Int = early.count

  /** Copies a row into a page.
    *
    * @param ofTable
    *   number of the table that the row is of
    * @return
    *   the row's address, as a [[Slot]] without hash
    */
  def append(
      ofTable: Int,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int): Long = {
    val size = RowRecord.size(keyLength, valueLength, ofTable)
    if (size > RowPages.MaxSharedRowBytes) {
      val id = pageOfItsOwn(size)
      RowRecord
        .write(page(id), 0, ofTable, key, keyOffset, keyLength, value, valueOffset, valueLength)
      wroteRow(id, 0, size)
    } else {
      if (!fits(size)) nextTail(size)
      val id = tail.id
      val offset = tailUsed
      pageTable.writable(id)
      RowRecord
        .write(
          tail.page,
          offset,
          ofTable,
          key,
          keyOffset,
          keyLength,
          value,
          valueOffset,
          valueLength)
      tailUsed = offset + size
      wroteRow(id, offset, size)
    }
  }

  /** Copies a row of a page that others know, with its table, as [[append]] does.
    *
    * @return
    *   as [[append]] does
    */
  def copy(from: Array[Byte], at: Int, size: Int): Long =
    if (size > RowPages.MaxSharedRowBytes) {
      val id = pageOfItsOwn(size)
      RowRecord.copy(from, at, page(id), 0, size)
      wroteRow(id, 0, size)
    } else {
      if (!fits(size)) nextTail(size)
      val id = tail.id
      val offset = tailUsed
      pageTable.writable(id)
      RowRecord.copy(from, at, tail.page, offset, size)
      tailUsed = offset + size
      wroteRow(id, offset, size)
    }

  /** Copies a row that this transaction wrote, in whose place the copy is what it wrote. */
  def copyOwn(from: Array[Byte], at: Int, size: Int): Long = {
    val row = copy(from, at, size)
    keepFlag(from, at, row, RowRecord.ReplacesBase)
    keepFlag(from, at, row, RowRecord.Rewritten)
    RowRecord.setFlag(from, at, RowRecord.Superseded)
    row
  }

  private[this] def keepFlag(from: Array[Byte], at: Int, row: Long, flag: Int): Unit =
    if (RowRecord.hasFlag(from, at, flag)) {
      RowRecord.setFlag(page(Slot.page(row)), Slot.offset(row), flag)
    }

  /** Reads the beginnings of some rows, as [[PageTable.fetch]] does. */
  def fetch(slots: Array[Long], count: Int): Unit = fetched = pageTable.current.fetch(slots, count)

  /** Says that the row at an address, which this transaction wrote, is none of its changes any more. */
  def supersede(address: Long): Unit = {
    val id = Slot.page(address)
    RowRecord.setFlag(page(id), Slot.offset(address), RowRecord.Superseded)
    if (!isOpen(id)) early.void()
  }

  /** Says that the row at an address is no part of the result any more. */
  def release(address: Long): Unit = {
    val id = Slot.page(address)
    val of = page(id)
    RowRecord.giveUp(of, Slot.offset(address))
    release(id, RowRecord.sizeAt(of, Slot.offset(address)))
  }

  /** Says that rows of a page, of so many bytes together, are no part of the result any more. */
  def release(id: Int, bytes: Int): Unit = {
    val left = pageTable.released(id, bytes)
    liveBytes -= bytes
    releasedBytes += bytes
    if (own.has(id)) own.replaced(bytes)
    if (left == 0) lostLastRow(id)
  }

  /** Whether this transaction wrote the row at an address. */
  def wrote(address: Long): Boolean = {
    val id = Slot.page(address)
    own.has(id) || (id == baseTail.id && Slot.offset(address) >= baseTailStart)
  }

  /** Forgets a page without live rows. Its id is given out again by later transactions. */
  def free(id: Int): Unit = {
    val old = page(id)
    val left = ids.without(id)
    pageTable.drop(id)
    ids = left
    pageBytes -= RowPages.bytes(old)
    if (!own.has(id)) freedBytes += RowPages.bytes(old)
    else {
      own.gaveBack(RowPages.bytes(old))
      if (id < regionOf.length) regions.drop(regionOf(id))
    }
  }

  /** One more than the largest page id. */
  def pageEnd: Int = ids.end

  /** Number of pages. */
  def pageCount: Int = ids.count

  /** Whether rows are appended to a page at the moment. */
  def isOpen(id: Int): Boolean = (tail ne TailPage.none) && tail.id == id

  /** Whether a page is the one that the next rows go into, be they of this transaction or the next. */
  def isTail(id: Int): Boolean = isHeld(newestTail) && newestTail.id == id

  /** Leaves the rest of the tail unused: the next row begins another page. */
  def leaveTail(): Unit = {
    close()
    triedBaseTail = true
    newestTail = TailPage.none
  }

  def freeze(): Unit = pageTable.freeze()

  def snapshot(): RowPages =
    new RowPages(pageTable.snapshot(ids.end), ids, liveBytes, pageBytes)

  /** Lets go of the tail page, so that another transaction may fill it. Nothing may be appended
    * afterwards.
    */
  def close(): Unit = if (tail ne TailPage.none) closeTail()

  /** The tail of the version that this transaction becomes. */
  def lastTail: TailPage =
    if (isHeld(newestTail)) newestTail else TailPage.none

  private[this] def fits(size: Int): Boolean = tail.page.length - tailUsed >= size

  private[this] def nextTail(size: Int): Unit = {
    leave()
    if (!triedBaseTail) claimBaseTail()
    if (!fits(size)) {
      leave()
      beforePage.run()
      if (!fits(size)) {
        leave()
        val id = allocate(RowPages.capacityFor(pageBytes, size))
        val fresh = new TailPage(id, page(id))
        fresh.claim(this)
        open(fresh, 0)
      }
    }
  }

  // The transaction before, which went on filling it to its end, may have left it without rows.
  private[this] def leave(): Unit = if (tail ne TailPage.none) {
    if (table.live(tail.id) == 0) lostLastRow(tail.id)
    closeTail()
    // Rows too large to share a page, which came while the tail was filled, are whole as well.
    early.filled(table)
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
    (tail ne TailPage.none) && tail.id < ids.end && (page(tail.id) eq tail.page)

  private[this] def open(page: TailPage, used: Int): Unit = {
    tail = page
    tailUsed = used
    tailRegion = regions.add(page.id, used)
    newestTail = page
  }

  // Only the page that rows are appended to can lose its last row again and again.
  private[this] def lostLastRow(id: Int): Unit =
    if (emptiedCount == 0 || emptied(emptiedCount - 1) != id) {
      if (emptiedCount == emptied.length) {
        emptied = java.util.Arrays.copyOf(emptied, math.max(8, 2 * emptiedCount))
      }
      emptied(emptiedCount) = id
      emptiedCount += 1
    }

  private[this] def closeTail(): Unit = {
    if (tailRegion >= 0) regions.setEnd(tailRegion, tailUsed)
    tail.release(tailUsed)
    tail = TailPage.none
    tailUsed = 0
    tailRegion = -1
  }

  // A row too large to share a page gets an array of just its size. The tail stays the tail.
  private[this] def pageOfItsOwn(size: Int): Int = {
    beforePage.run()
    val id = allocate(size)
    regions.setEnd(regions.add(id, 0), size)
    id
  }

  private[this] def allocate(capacity: Int): Int = {
    val id = ids.next
    if (id == Slot.MaxPages) {
      throw new IllegalStateException(
        s"a state store partition holds at most ${Slot.MaxPages - 1} row pages and this one is " +
          s"full ($pageBytes bytes); use more shuffle partitions so that each holds fewer rows")
    }
    memory.allocate(RowPages.bytes(capacity))
    val fresh = new Array[Byte](capacity)
    val withFresh = ids.withNext
    pageTable.writable(id)
    tellTimes(id)
    own.add(id, RowPages.bytes(capacity))
    ids = withFresh
    pageTable.add(id, fresh)
    pageBytes += RowPages.bytes(capacity)
    id
  }

  private[this] def tellTimes(id: Int): Unit = {
    var i = 0
    while (i < times.length) {
      times(i).isNew(id)
      i += 1
    }
  }

  // Counts a row that is there now, in a page that is writable.
  private[this] def wroteRow(id: Int, offset: Int, size: Int): Long = {
    pageTable.wrote(id, offset, size)
    liveBytes += size
    appendedBytes += size
    Slot(0L, id, offset)
  }
}

private[table] object RowPagesWriter {
  private val NoIds = new Array[Int](0)
  private val NoRegions = new Array[Int](0)
  private val Nothing: Runnable = () => ()
  private val NoTimes = new Array[PageTimesWriter](0)
}
