package io.holdfast.table

/** Gives back the memory of rows that were overwritten or removed.
  *
  * Pages without live rows are dropped. When pages hold more than one and a half times what is live
  * in them, the live rows of the sparsest pages are copied to the tail and those pages are dropped,
  * as in the cleaner of a log-structured file system (Rosenblum and Ousterhout, "The Design and
  * Implementation of a Log-Structured File System", ACM TOCS 10(1), 1992). The work is bounded by
  * the bytes that the transaction wrote and gave up, so a batch costs what it changes.
  */
private[table] object Compaction {

  /** Pages may hold this many bytes beyond the bound before anything moves: a partly filled tail is
    * no waste.
    */
  private val SlackBytes = 2L * Slot.MaxPageBytes

  private val LeastBudgetBytes = Slot.MaxPageBytes.toLong

  /** Bytes moved for each byte that the transaction wrote or gave up. */
  private val EffortFactor = 2L

  /** The page table has room for so many ids beyond twice the number of pages before pages at its end
    * move to its beginning: whoever walks the rows of a store that shrank looks at every id.
    */
  private val SlackIds = 2 * PageTable.SegmentPages

  /** Runs when the changes of a transaction are complete.
    *
    * @param indexOf
    *   the indexes of the table with a number, in which rows that move are to be found; null if there
    *   is no such table
    * @return
    *   bytes of rows that were copied
    */
  def run(pages: RowPagesWriter, indexOf: Int => TableIndexWriter): Long =
    if (!pages.hasEmptiedPages && !isSparse(pages) && !isScattered(pages)) 0L
    else {
      // In a large store one page in a thousand or so is emptied by a batch, and to look at the length
      // of each of the others is to wait for it.
      pages.freeEmptied()
      val sparse = if (isSparse(pages)) dropEmptyPages(pages, _ => true) else NoPages
      val budget =
        math.max(LeastBudgetBytes, EffortFactor * (pages.appended + pages.released))
      val group = new Group(indexOf, ofOwn = false)
      var moved = 0L
      var i = 0
      while (i < sparse.length && isSparse(pages) && moved < budget) {
        moved += relocate(pageOf(sparse(i)), pages, group)
        i += 1
      }
      var shrinks = true
      while (shrinks && isScattered(pages) && moved < budget && mayMoveLast(pages)) {
        val end = pages.pageEnd
        if (pages.isTail(end - 1)) pages.leaveTail()
        moved += relocate(end - 1, pages, group)
        shrinks = pages.pageEnd < end
      }
      moved
    }

  /** Runs in the midst of a transaction that has replaced much of what it wrote itself: moves its own rows
    * alone, which stay what it has written. It tells the same changes afterwards.
    *
    * @param slack
    *   bytes that its own pages may hold beyond what is live in them before anything moves
    */
  def runOnOwn(pages: RowPagesWriter, indexOf: Int => TableIndexWriter, slack: Long): Unit =
    pages.givingBackOwn {
      val sparse = dropEmptyPages(pages, pages.isOwn)
      val group = new Group(indexOf, ofOwn = true)
      var i = 0
      while (i < sparse.length && pages.ownAreSparse(slack)) {
        relocate(pageOf(sparse(i)), pages, group)
        i += 1
      }
    }

  private def isSparse(pages: RowPagesWriter): Boolean =
    pages.held > pages.live + pages.live / 2 + slack(pages.live)

  // A store of a few pages of any size is left alone until it holds twice what is live.
  private def slack(liveBytes: Long): Long =
    math.min(SlackBytes, math.max(liveBytes / 2, 2L * RowPages.capacityFor(0L, 0)))

  private def isScattered(pages: RowPagesWriter): Boolean =
    pages.pageEnd > 2 * pages.pageCount + SlackIds

  // A row that is larger than a page would cost much to move.
  private def mayMoveLast(pages: RowPagesWriter): Boolean =
    pages.page(pages.pageEnd - 1).length <= Slot.MaxPageBytes

  // Drops pages without live rows and returns the others that are worth emptying, sparsest first,
  // each as its share of live bytes above its id.
  private def dropEmptyPages(pages: RowPagesWriter, mayGo: Int => Boolean): Array[Long] = {
    val sparse = Array.newBuilder[Long]
    var id = 1
    while (id < pages.pageEnd) {
      val page = pages.page(id)
      if ((page ne null) && mayGo(id) && !pages.isOpen(id)) {
        val live = pages.table.live(id)
        if (live == 0) pages.free(id)
        else if (live.toLong * 4 < page.length.toLong * 3 && !pages.isTail(id)) {
          sparse += ((live.toLong << 20) / page.length) << 32 | id
        }
      }
      id += 1
    }
    val result = sparse.result()
    java.util.Arrays.sort(result)
    result
  }

  private val NoPages = new Array[Long](0)

  private def pageOf(entry: Long): Int = entry.toInt

  // Copies the rows of a page to the tail, drops the page if nothing is left, and returns the bytes of
  // the rows that went. Records behind the end that the version knows are those of other attempts.
  private def relocate(id: Int, pages: RowPagesWriter, group: Group): Long = {
    val page = pages.page(id)
    val end = pages.table.end(id)
    val before = pages.table.live(id)
    move(id, page, end, pages, group, ofGivenUp = false)
    // What some transaction gave up that came to nothing.
    move(id, page, end, pages, group, ofGivenUp = true)
    val left = pages.table.live(id)
    // A row that its index does not find must not be lost with its page.
    if (left == 0) pages.free(id)
    (before - left).toLong
  }

  // Copies rows of a page to the tail: those that some transaction has given up, or those that none has.
  // The index says of each record whether it is a row, and asking it is most of the work: where no
  // transaction came to nothing, the rows are all among the latter.
  private def move(
      id: Int,
      page: Array[Byte],
      end: Int,
      pages: RowPagesWriter,
      group: Group,
      ofGivenUp: Boolean): Unit = {
    var offset = 0
    while (offset < end && pages.table.live(id) > 0) {
      offset = group.read(id, page, offset, end, ofGivenUp)
      group.move(id, page, pages)
    }
  }

  /** Records of a page that are looked up together, so that they wait for memory together: some that
    * follow one another and are of the same table.
    *
    * @param ofOwn
    *   whether the transaction wrote them, and has changes to tell yet
    */
  final private class Group(indexOf: Int => TableIndexWriter, ofOwn: Boolean) {
    private[this] val hashes = new Array[Long](GroupRecords)
    private[this] val slots = new Array[Long](GroupRecords)
    private[this] var count = 0
    private[this] var table = 0

    /** Takes records from an offset on and returns the offset behind them.
      *
      * @param ofGivenUp
      *   whether it takes those that transactions have given up, or those that none has
      */
    def read(id: Int, page: Array[Byte], from: Int, end: Int, ofGivenUp: Boolean): Int = {
      table = RowRecord.table(page, from)
      count = 0
      var offset = from
      while (count < GroupRecords && offset < end && RowRecord.table(page, offset) == table) {
        if (RowRecord.isGivenUp(page, offset) == ofGivenUp) {
          val hash =
            Bytes.hash(page, RowRecord.keyOffset(offset), RowRecord.keyLength(page, offset))
          hashes(count) = hash
          slots(count) = Slot(hash, id, offset)
          count += 1
        }
        offset += RowRecord.sizeAt(page, offset)
      }
      offset
    }

    /** Copies those that are rows to the tail. */
    def move(id: Int, page: Array[Byte], pages: RowPagesWriter): Unit = {
      val index = indexOf(table)
      if (index != null) {
        index.fetch(hashes, count)
        var moved = 0
        var i = 0
        while (i < count) {
          val position = index.position(hashes(i), slots(i))
          if (position >= 0) {
            val offset = Slot.offset(slots(i))
            val size = RowRecord.sizeAt(page, offset)
            val to =
              if (ofOwn) pages.copyOwn(page, offset, size) else pages.copy(page, offset, size)
            index.move(hashes(i), position, to)
            moved += size
          }
          i += 1
        }
        if (moved > 0) pages.release(id, moved)
      }
    }
  }

  private val GroupRecords = 32
}
