package io.holdfast.table

/** A walk over all rows of a table, or of several, page by page.
  *
  * Neighbours in the index lie all over the pages, so a walk in its order would wait for memory at
  * every row. This one reads the indexes alone, for [[LiveRows]], when it is asked for its first row,
  * and then the pages from one end to the other.
  *
  * @param end
  *   one more than the largest page id
  */
private[table] final class PageCursor(
    indexes: Array[HashIndex],
    table: PageTable,
    end: Int,
    memory: MemoryUse)
    extends TableCursor {
  private[this] var live: LiveRows = null
  private[this] var liveBytes = 0L
  // The bits of the current word whose rows are still to come, and where its first one is.
  private[this] var bits = 0L
  private[this] var wordOffset = 0
  private[this] var currentPage = PageCursor.NoPage
  private[this] var currentOffset = 0

  override def next(): Boolean =
    if (bits == 0L && !nextWord()) false
    else {
      currentOffset = wordOffset + (java.lang.Long.numberOfTrailingZeros(bits) << 3)
      bits &= bits - 1L
      true
    }

  override def page: Array[Byte] = currentPage

  override def offset: Int = currentOffset

  override protected def finish(): Unit = {
    bits = 0L
    live = null
    memory.release(liveBytes)
    liveBytes = 0L
  }

  private[this] def nextWord(): Boolean =
    if (isFinished) false
    else {
      if (live == null) readIndexes()
      bits = live.nextBits()
      if (bits == 0L) {
        close()
        false
      } else {
        wordOffset = live.offset
        currentPage = table.page(live.page)
        true
      }
    }

  private[this] def readIndexes(): Unit = {
    val bytes = LiveRows.bytes(table, end)
    memory.allocate(bytes)
    liveBytes = bytes
    live = LiveRows.of(indexes, table, end)
  }
}

private[table] object PageCursor {
  private val NoPage = new Array[Byte](0)
}
