package io.holdfast.table

/** One table of a version: the index of its rows, which lie in the pages of the version beside those
  * of the other tables. Immutable.
  *
  * @param ordered
  *   the keys in an order, in tables that are scanned
  * @param times
  *   what is known of the times of its rows
  */
private[table] final class Table(
    val index: HashIndex,
    val ordered: Option[OrderedIndex],
    val times: Option[PageTimes]) {

  /** Heap bytes of the indexes and times. */
  def bytes: Long = index.bytes + ordered.fold(0L)(_.bytes) + times.fold(0L)(_.bytes)
}

private[table] object Table {

  /** Stands where a version has no table, because nobody has asked for that number. */
  val none: Table = new Table(HashIndex.empty, None, None)

  /** A table without rows, scanned in an order if one is given. All of them share one hash index. */
  def empty(order: Option[RowOrder]): Table =
    new Table(HashIndex.empty, order.map(OrderedIndex.empty), None)
}
