package io.holdfast.table

/** A walk over rows in the order of their store, from a lower to an upper bound.
  *
  * @param from
  *   words of the lower bound, which belongs to the range
  * @param until
  *   words of the upper bound, which does not
  */
private[table] final class OrderedCursor(
    index: OrderedIndex,
    pages: Array[Array[Array[Byte]]],
    from: Option[Array[Long]],
    until: Option[Array[Long]])
    extends RowCursor {
  private[this] val stride = index.order.words + 1
  private[this] val path = new OrderedPath
  private[this] var currentPage = OrderedCursor.NoPage
  private[this] var currentOffset = 0

  from match {
    case Some(words) => path.seek(index.root, index.height, words, Slot.Empty)
    case None => path.seekFirst(index.root, index.height)
  }

  override def next(): Boolean =
    if (!path.settle() || !until.forall(isBelow)) false
    else {
      val slot = path.leaf.slot(path.leafPosition, stride)
      currentPage = RowPages.page(pages, Slot.page(slot))
      currentOffset = Slot.offset(slot)
      path.advance()
      true
    }

  override def page: Array[Byte] = currentPage

  override def offset: Int = currentOffset

  private[this] def isBelow(bound: Array[Long]): Boolean = {
    val at = path.leafPosition * stride
    var i = 0
    while (i < bound.length) {
      val order = java.lang.Long.compareUnsigned(path.leaf.entries(at + i), bound(i))
      if (order != 0) return order < 0
      i += 1
    }
    false
  }
}

private[table] object OrderedCursor {
  private val NoPage = new Array[Byte](0)
}
