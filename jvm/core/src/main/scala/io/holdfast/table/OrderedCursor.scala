package io.holdfast.table

/** A walk over rows in the order of their store, from a lower to an upper bound.
  *
  * @param hashes
  *   the index that has the rows, of the same moment as the ordered one
  * @param from
  *   words of the lower bound, which belongs to the range
  * @param until
  *   words of the upper bound, which does not
  */
private[table] final class OrderedCursor(
    index: OrderedIndex,
    hashes: HashIndex,
    pages: PageTable,
    from: Option[Array[Long]],
    until: Option[Array[Long]])
    extends TableCursor
    with ScanCursor {
  import OrderedCursor._

  private[this] val stride = index.order.words + 1
  private[this] val path = new OrderedPath
  private[this] val entry = new RowsOfEntry(index.order, pages)

  // Up to which position of which leaf rows were fetched, and how many are fetched next.
  private[this] var fetchedLeaf: OrderedNode = null
  private[this] var fetchedEnd = 0
  private[this] var ahead = LeastAhead
  private[this] var slotsAhead = new Array[Long](2 * LeastAhead)

  // Written so that the reads of `fetch` have a result, and are not left out.
  private[this] var fetched = 0L

  from match {
    case Some(words) => path.seek(index.root, index.height, words, 0L)
    case None => path.seekFirst(index.root, index.height)
  }

  override def next(): Boolean = {
    if (isFinished) return false
    while (!entry.next()) {
      if (!path.settle() || !isBelowBound(path.leafPosition)) {
        close()
        return false
      }
      if ((path.leaf ne fetchedLeaf) || path.leafPosition == fetchedEnd) fetch()
      entry.open(path.leaf, path.leafPosition, bucketOf(path.leafPosition))
      path.advance()
    }
    true
  }

  override def page: Array[Byte] = entry.page

  override def offset: Int = entry.offset

  override def isAt(words: Array[Long]): Boolean = entry.isAt(words)

  override protected def finish(): Unit = ()

  private[this] def bucketOf(position: Int): Array[Long] =
    hashes.bucket(path.leaf.hash(position, stride))

  // Reads the next rows together, so that they wait for memory together: a few at first, since most
  // scans are short.
  private[this] def fetch(): Unit = {
    val start = path.leafPosition
    fetchedLeaf = path.leaf
    val end = math.min(path.leaf.count, start + ahead)
    var count = 0
    while (start + count < end && isBelowBound(start + count)) {
      // Their hashes, until they have been looked up.
      slotsAhead(count) = path.leaf.hash(start + count, stride)
      count += 1
    }
    fetchedEnd = start + count
    fetched = TableMoment.fetch(hashes, pages, slotsAhead, count)
    ahead = math.min(2 * ahead, MostAhead)
    if (ahead > slotsAhead.length) slotsAhead = new Array[Long](MostAhead)
  }

  private[this] def isBelowBound(position: Int): Boolean = until match {
    case None => true
    case Some(bound) =>
      val at = position * stride
      var i = 0
      while (i < bound.length) {
        val order = java.lang.Long.compareUnsigned(path.leaf.entries(at + i), bound(i))
        if (order != 0) return order < 0
        i += 1
      }
      false
  }
}

private object OrderedCursor {
  private val LeastAhead = 4
  private val MostAhead = 32
}
