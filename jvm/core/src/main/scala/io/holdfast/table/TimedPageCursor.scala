package io.holdfast.table

/** A walk over the rows of a table up to a time, page by page, passing over pages in which all are
  * later.
  *
  * It reads the records of a page one after the other, and asks the index only which of those that have
  * expired are rows, some at a time so that they wait for memory together; in a page that has nothing but rows
  * it asks for none. When so many have expired that reading the whole index once costs less
  * ([[IndexChoice]]), it does that ([[LiveRows]]), if there is memory for it. Where pages expire as a
  * whole it reads no times ([[PagesInARow]]).
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

  private[this] val choice = new IndexChoice(index, table, end, times, threshold)
  private[this] var mayReadIndex = true
  private[this] var live: LiveRows = null
  private[this] var liveBytes = 0L
  private[this] val inARow = new PagesInARow

  // The page that is being read, and what of it is still to come.
  private[this] var id = 0
  private[this] var bytes = NoPage
  private[this] var unread = 0
  private[this] var recordEnd = 0
  private[this] var onlyRows = false
  private[this] var readsLive = false
  private[this] var readsTimes = true
  private[this] var hasLater = false
  // A record before this time is no row.
  private[this] var least = EventTime.Always
  private[this] var rest = EventTime.Never
  private[this] var restLookups = 0
  // Counts what is shown against what is given up. Null in a page whose times are not read: it stays as it
  // is known.
  private[this] var walkedPage: WalkedPages.Page = null

  // Rows to be shown.
  private[this] val group = new RecordGroup(index)
  private[this] val offsets = group.offsets
  private[this] var count = 0
  private[this] var shown = 0
  // Others that are to be shown, where the times are not read: bits as of `LiveRows`.
  private[this] var word = 0L
  private[this] var wordOffset = 0
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
    if (word != 0L || shown < count || nextGroup()) {
      if (word != 0L) {
        currentOffset = wordOffset + (java.lang.Long.numberOfTrailingZeros(word) << 3)
        word &= word - 1L
      } else {
        currentOffset = offsets(shown)
        shown += 1
      }
      true
    } else false

  override protected def finish(): Unit = {
    word = 0L
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
    while (count == 0 && word == 0L && !isFinished) {
      if (unread < recordEnd) {
        if (readsLive) { if (readsTimes) readLiveGroup() else showWord() }
        else if (readsTimes) readGroup()
        else showGroup()
        if (walkedPage != null && count > 0) walked.shown(walkedPage, count)
      } else {
        if (bytes ne NoPage) finishPage()
        if (!nextPage()) close()
      }
    }
    currentPage = bytes
    !isFinished
  }

  private[this] def nextPage(): Boolean = {
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
    hasLater = false
    readsLive = live != null && !onlyRows
    if (readsLive) live.goTo(id, 0)
    // Where the index is asked for each row, the times are what costs least.
    readsTimes = !((onlyRows || readsLive) && inARow.takesNext())
    walkedPage =
      if (walked != null && readsTimes) walked.begin(id, recordEnd, threshold) else null
    pagesRead += 1
  }

  private[this] def finishPage(): Unit = if (readsTimes) {
    inARow.looked(!hasLater)
    if (walkedPage != null) walked.done(walkedPage, rest)
  }

  // Without the memory for it the walk takes longer.
  private[this] def readIndex(): Unit = {
    val bytes = LiveRows.bytes(table, end)
    mayReadIndex = false
    if (memory.tryAllocate(bytes)) {
      liveBytes = bytes
      live = LiveRows.of(Array(index), table, end)
      readsLive = true
      live.goTo(id, unread)
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
    var later = false
    while (offset < end && found < RecordGroup.Records) {
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
          } else {
            later = true
            if (asksForRest && time < rest && mayBeRow(offset)) rest = time
          }
        }
      }
      offset += RowRecord.size(header)
    }
    if (later) hasLater = true
    fetched += ahead
    looked += read
    if (onlyRows) {
      unread = offset
      count = found
    } else {
      choice.read(offset - unread, found)
      unread = offset
      count = group.keepRows(id, bytes, found)
      if (mayReadIndex && choice.isWorthReading) readIndex()
    }
  }

  // Shows the next rows of a page that has nothing else.
  private[this] def showGroup(): Unit = {
    val page = bytes
    val end = recordEnd
    var offset = unread
    var found = 0
    while (offset < end && found < RecordGroup.Records) {
      val header = RowRecord.header(page, offset)
      if (RowRecord.isOfFirstTable(header) == ofFirstTable && isOfTable(page, offset)) {
        offsets(found) = offset
        found += 1
      }
      offset += RowRecord.size(header)
    }
    unread = offset
    looked += found
    count = found
  }

  // Does the same where the index was read: what is no row is passed over.
  private[this] def readLiveGroup(): Unit = {
    val page = bytes
    val asksForRest = walked != null
    var found = 0
    var read = 0
    var later = false
    var offset = live.nextOffset()
    while (offset >= 0) {
      val time = eventTime.of(page, offset)
      read += 1
      if (time <= threshold) {
        offsets(found) = offset
        found += 1
      } else {
        later = true
        if (asksForRest && time < rest) rest = time
      }
      offset = if (found < RecordGroup.Records) live.nextOffset() else GroupIsFull
    }
    if (offset != GroupIsFull) unread = recordEnd
    if (later) hasLater = true
    looked += read
    count = found
  }

  // Shows the next rows of a page where the index was read.
  private[this] def showWord(): Unit = {
    word = live.nextBitsOfPage()
    wordOffset = live.offset
    looked += java.lang.Long.bitCount(word)
    if (word == 0L) unread = recordEnd
  }

  private[this] def isOfTable(page: Array[Byte], offset: Int): Boolean =
    ofFirstTable || RowRecord.table(page, offset) == number

  // Whether a record that has not expired may be a row. A page whose records come latest first would
  // ask for each of them: then the time of one that is none is taken as well.
  private[this] def mayBeRow(offset: Int): Boolean =
    if (onlyRows || restLookups == MostRestLookups) true
    else {
      restLookups += 1
      group.isRow(id, bytes, offset)
    }
}

private object TimedPageCursor {
  private val NoPage = new Array[Byte](0)

  private val ReadAheadBytes = 1024

  private val GroupIsFull = -2

  private val MostRestLookups = 64
}
