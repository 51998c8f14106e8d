package io.holdfast.table

/** A walk over all rows of a hash index, page by page.
  *
  * Neighbours in the index lie all over the pages, so a walk in its order would wait for memory at
  * every row. This one reads the index alone, for [[LiveRows]], when it is asked for its first row,
  * and then the pages from one end to the other.
  *
  * @param end
  *   one more than the largest page id
  */
private[table] final class PageCursor(index: HashIndex, pages: Array[Array[Array[Byte]]], end: Int)
    extends RowCursor {
  private[this] var live: Array[Array[Long]] = null
  private[this] var group = -1
  private[this] var words = PageCursor.NoWords
  private[this] var word = 0
  // The bits of the current word whose rows are still to come.
  private[this] var bits = 0L
  private[this] var currentPage = PageCursor.NoPage
  private[this] var currentOffset = 0

  override def next(): Boolean =
    if (bits == 0L && !nextWord()) false
    else {
      currentOffset = LiveRows.offsetOf(word, java.lang.Long.numberOfTrailingZeros(bits))
      bits &= bits - 1L
      true
    }

  override def page: Array[Byte] = currentPage

  override def offset: Int = currentOffset

  private[this] def nextWord(): Boolean = {
    while (bits == 0L) {
      word += 1
      if (word < words.length) bits = words(word)
      else if (!nextGroup()) return false
    }
    currentPage = RowPages.page(pages, LiveRows.pageOf(group, word))
    true
  }

  private[this] def nextGroup(): Boolean = {
    if (live == null) live = LiveRows.of(index, end)
    if (group + 1 == live.length) false
    else {
      group += 1
      words = live(group)
      word = -1
      true
    }
  }
}

private[table] object PageCursor {
  private val NoWords = new Array[Long](0)
  private val NoPage = new Array[Byte](0)
}
