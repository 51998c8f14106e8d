package io.holdfast.table

/** A walk over the rows of a table up to a time, page by page, passing over pages in which all are
  * later.
  *
  * It reads the records of a page one after the other, and asks the index only which of those that have
  * expired are rows, some at a time so that they wait for memory together; in a page that has nothing but rows
  * it asks for none. When so many have expired that reading the whole index once costs less,
  * as where nothing is known of the times yet, it does that ([[LiveRows]]).
  *
  * @param end
  *   one more than the largest page id
  * @param number
  *   of the table
  * @param times
  *   what is known of the pages
  * @param walked
  *   is told what was found, in a transaction; null elsewhere
  */
private[table] final class TimedPageCursor(
    index: HashIndex,
    table: PageTable,
    end: Int,
    number: Int,
    times: PageTimes,
    threshold: Long,
    walked: WalkedPages,
    memory: MemoryUse)
    extends TableCursor
    with EvictionCursor {
  import TimedPageCursor._

  private[this] val eventTime = times.eventTime
  private[this] val ofFirstTable = number == 0

  private[this] var looked = 0L
  private[this] var pagesRead = 0
  private[this] var skipped = 0

  // Pages to be read that have records which are no rows: all of them, once they were counted.
  private[this] var sparsePages = NotCounted
  private[this] var sparsePagesRead = 0
  private[this] var lookups = 0L
  private[this] var live: LiveRows = null
  private[this] var liveBytes = 0L

  // The page that is being read, and what of it is still to come.
  private[this] var id = 0
  private[this] var bytes = NoPage
  private[this] var unread = 0
  private[this] var recordEnd = 0
  private[this] var onlyRows = false
  private[this] var readsLive = false
  // Rows of a word of the live ones that are still to come, and where the first bit stands for.
  private[this] var bits = 0L
  private[this] var bitsOffset = 0
  // A record before this time is no row.
  private[this] var least = EventTime.Always
  private[this] var rest = EventTime.Never
  private[this] var restLookups = 0
  private[this] var walkedPage: WalkedPages.Page = null

  // Rows to be shown.
  private[this] val offsets = new Array[Int](GroupRows)
  private[this] val hashes = new Array[Long](GroupRows)
  private[this] var count = 0
  private[this] var shown = 0
  private[this] var currentPage = NoPage
  private[this] var currentOffset = 0

  // Written so that the reads of `fetch` have a result, and are not left out.
  private[this] var fetched = 0L

  override def rowsLookedAt: Long = looked
  override def pagesLookedAt: Int = pagesRead
  override def pagesSkipped: Int = skipped

  override def page: Array[Byte] = currentPage
  override def offset: Int = currentOffset

  override def next(): Boolean =
    if (shown < count || nextGroup()) {
      currentPage = bytes
      currentOffset = offsets(shown)
      shown += 1
      true
    } else false

  override protected def finish(): Unit = {
    count = 0
    shown = 0
    live = null
    memory.release(liveBytes)
    liveBytes = 0L
  }

  // Reads on until there are rows to show.
  private[this] def nextGroup(): Boolean = {
    count = 0
    shown = 0
    while (count == 0 && !isFinished) {
      if (unread < recordEnd) {
        if (readsLive) readLiveGroup() else readGroup()
        if (walked != null && count > 0) walked.shown(walkedPage, count)
      } else {
        if (bytes ne NoPage) finishPage()
        if (!nextPage()) close()
      }
    }
    count > 0
  }

  private[this] def nextPage(): Boolean = {
    if (sparsePages == NotCounted) countSparsePages()
    bytes = NoPage
    while ((bytes eq NoPage) && id + 1 < end) {
      id += 1
      val found = table.page(id)
      if (found != null) {
        if (times.least(id) <= threshold) begin(found) else skipped += 1
      }
    }
    bytes ne NoPage
  }

  private[this] def begin(found: Array[Byte]): Unit = {
    bytes = found
    unread = 0
    recordEnd = table.end(id)
    onlyRows = table.endOfRows(id) == recordEnd
    least = times.least(id)
    rest = EventTime.Never
    restLookups = 0
    readsLive = live != null && !onlyRows
    if (readsLive) {
      live.goTo(id)
      bits = 0L
    }
    if (walked != null) walkedPage = walked.begin(id, recordEnd, threshold)
    pagesRead += 1
  }

  private[this] def finishPage(): Unit = {
    if (walked != null) walked.done(walkedPage, rest)
    if (!onlyRows) {
      sparsePagesRead += 1
      if (live == null && isIndexWorthReading) readIndex()
    }
  }

  // Whether as many lookups for each page that is still to come would cost more.
  private[this] def isIndexWorthReading: Boolean =
    sparsePagesRead < sparsePages &&
      lookups * sparsePages > index.keyCount / LookupCost * sparsePagesRead

  private[this] def readIndex(): Unit = {
    val bytes = LiveRows.bytes(table, end)
    memory.allocate(bytes)
    liveBytes = bytes
    live = LiveRows.of(index, table, end)
  }

  private[this] def countSparsePages(): Unit = {
    sparsePages = 0
    var id = 1
    while (id < end) {
      if (table.page(id) != null && times.least(id) <= threshold &&
        table.endOfRows(id) != table.end(id)) sparsePages += 1
      id += 1
    }
  }

  // Goes on in the page until there are enough records that have expired, and keeps those that are rows.
  private[this] def readGroup(): Unit = {
    val page = bytes
    val end = recordEnd
    val asksForRest = walked != null
    var offset = unread
    val last = page.length - 1
    var ahead = 0
    var found = 0
    var read = 0
    while (offset < end && found < GroupRows) {
      // Where a record begins is known from the one before it: reading ahead is what keeps the memory
      // busy.
      ahead += page(math.min(offset + ReadAheadBytes, last))
      val header = RowRecord.header(page, offset)
      if (RowRecord.isOfFirstTable(header) == ofFirstTable && isOfTable(page, offset)) {
        val time = eventTime.of(page, offset, header)
        if (time >= least) {
          read += 1
          if (time <= threshold) {
            offsets(found) = offset
            found += 1
          } else if (asksForRest && time < rest && mayBeRow(offset)) rest = time
        }
      }
      offset += RowRecord.size(header)
    }
    unread = offset
    fetched += ahead
    looked += read
    count = found
    if (!onlyRows) keepFound()
  }

  // Does the same where the index was read: what is no row is passed over.
  private[this] def readLiveGroup(): Unit = {
    val page = bytes
    val asksForRest = walked != null
    var found = 0
    var read = 0
    if (bits == 0L) nextBits()
    while (bits != 0L && found < GroupRows) {
      val offset = bitsOffset + (java.lang.Long.numberOfTrailingZeros(bits) << 3)
      bits &= bits - 1L
      if (bits == 0L) nextBits()
      val time = eventTime.of(page, offset)
      read += 1
      if (time <= threshold) {
        offsets(found) = offset
        found += 1
      } else if (asksForRest && time < rest) rest = time
    }
    if (bits == 0L) unread = recordEnd
    looked += read
    count = found
  }

  private[this] def nextBits(): Unit = {
    bits = live.nextBitsOfPage()
    bitsOffset = live.offset
  }

  private[this] def isOfTable(page: Array[Byte], offset: Int): Boolean =
    ofFirstTable || RowRecord.table(page, offset) == number

  private[this] def keepFound(): Unit = {
    var i = 0
    while (i < count) {
      hashes(i) = hash(offsets(i))
      i += 1
    }
    fetched = HashIndex.fetch(index.segments, index.depth, hashes, count)
    lookups += count
    var kept = 0
    i = 0
    while (i < count) {
      if (isFound(hashes(i), offsets(i))) {
        offsets(kept) = offsets(i)
        kept += 1
      }
      i += 1
    }
    count = kept
  }

  // Whether a record that has not expired may be a row. A page whose records come latest first would
  // ask for each of them: then the time of one that is none is taken as well.
  private[this] def mayBeRow(offset: Int): Boolean =
    if (onlyRows || restLookups == MostRestLookups) true
    else {
      restLookups += 1
      isFound(hash(offset), offset)
    }

  private[this] def isFound(hash: Long, offset: Int): Boolean =
    Bucket.findAddress(index.bucket(hash), Slot(hash, id, offset)) >= 0

  private[this] def hash(offset: Int): Long =
    Bytes.hash(bytes, RowRecord.keyOffset(offset), RowRecord.keyLength(bytes, offset))
}

private object TimedPageCursor {
  private val NoPage = new Array[Byte](0)

  private val NotCounted = -1

  private val GroupRows = 32

  private val ReadAheadBytes = 1024

  // Looking up a row costs about as much as reading so many of the index, one after the other.
  private val LookupCost = 4L

  private val MostRestLookups = 64
}
