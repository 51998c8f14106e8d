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

  /** Runs when the changes of a transaction are complete.
    *
    * @return
    *   bytes of rows that were copied
    */
  def run(pages: RowPagesWriter, index: HashIndexWriter): Long =
    if (!pages.hasEmptiedPages && !isSparse(pages)) 0L
    else {
      val sparse = dropEmptyPages(pages)
      val budget =
        math.max(LeastBudgetBytes, EffortFactor * (pages.appended + pages.released))
      val group = new Group
      var moved = 0L
      var i = 0
      while (i < sparse.length && isSparse(pages) && moved < budget) {
        val id = pageOf(sparse(i))
        moved += pages.liveOf(id)
        relocate(id, pages, index, group)
        i += 1
      }
      moved
    }

  private def isSparse(pages: RowPagesWriter): Boolean =
    pages.held > pages.liveTotal + pages.liveTotal / 2 + slack(pages.liveTotal)

  // A store of a few pages of any size is left alone until it holds twice what is live.
  private def slack(liveBytes: Long): Long =
    math.min(SlackBytes, math.max(liveBytes / 2, 2L * RowPages.capacityFor(0L, 0)))

  // Drops pages without live rows and returns the others that are worth emptying, sparsest first,
  // each as its share of live bytes above its id.
  private def dropEmptyPages(pages: RowPagesWriter): Array[Long] = {
    val sparse = Array.newBuilder[Long]
    var id = 1
    while (id < pages.pageEnd) {
      val page = pages.page(id)
      if ((page ne null) && !pages.isTail(id)) {
        val live = pages.liveOf(id)
        if (live == 0) pages.free(id)
        else if (live.toLong * 4 < page.length.toLong * 3) {
          sparse += ((live.toLong << 20) / page.length) << 32 | id
        }
      }
      id += 1
    }
    val result = sparse.result()
    java.util.Arrays.sort(result)
    result
  }

  private def pageOf(entry: Long): Int = entry.toInt

  private def relocate(
      id: Int,
      pages: RowPagesWriter,
      index: HashIndexWriter,
      group: Group): Unit = {
    val page = pages.page(id)
    var offset = 0
    while (pages.liveOf(id) > 0 && RowRecord.isPresent(page, offset)) {
      offset = group.read(id, page, offset)
      index.fetch(group.hashes, group.count)
      var i = 0
      while (i < group.count) {
        relocateRow(group.hashes(i), group.slots(i), page, pages, index)
        i += 1
      }
    }
    pages.free(id)
  }

  private def relocateRow(
      hash: Long,
      slot: Long,
      page: Array[Byte],
      pages: RowPagesWriter,
      index: HashIndexWriter): Unit = {
    val bucket = index.bucket(hash)
    val position = Bucket.findAddress(bucket, slot)
    if (position >= 0) {
      val offset = Slot.offset(slot)
      val key = RowRecord.keyOffset(offset)
      val keyLength = RowRecord.keyLength(page, offset)
      pages.release(slot)
      val address = pages.append(
        page,
        key,
        keyLength,
        page,
        RowRecord.valueOffset(page, offset),
        RowRecord.valueLength(page, offset))
      index.writable(bucket, hash)(position) = Slot.tag(hash) | address
    }
  }

  /** Records of a page that are looked up together, so that they wait for memory together. */
  final private class Group {
    val hashes = new Array[Long](GroupRecords)
    val slots = new Array[Long](GroupRecords)
    var count = 0

    /** Takes records from an offset on and returns the offset behind them. */
    def read(id: Int, page: Array[Byte], from: Int): Int = {
      count = 0
      var offset = from
      while (count < GroupRecords && RowRecord.isPresent(page, offset)) {
        val hash =
          Bytes.hash(page, RowRecord.keyOffset(offset), RowRecord.keyLength(page, offset))
        hashes(count) = hash
        slots(count) = Slot(hash, id, offset)
        count += 1
        offset += RowRecord.sizeAt(page, offset)
      }
      offset
    }
  }

  private val GroupRecords = 32
}
