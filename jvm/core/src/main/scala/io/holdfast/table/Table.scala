package io.holdfast.table

/** One table of a version: the index of its rows, which lie in the pages of the version beside those
  * of the other tables. Immutable.
  *
  * @param order
  *   in which it is scanned, if it is
  * @param ordered
  *   the keys in that order. The first table has it from the start, any other from the first transaction
  *   that scans it and commits
  * @param times
  *   what is known of the times of its rows
  */
private[table] final class Table(
    val index: HashIndex,
    val order: Option[RowOrder],
    val ordered: Option[OrderedIndex],
    val times: Option[PageTimes]) {

  /** Heap bytes of the indexes and times. */
  def bytes: Long = index.bytes + ordered.fold(0L)(_.bytes) + times.fold(0L)(_.bytes)
}

private[table] object Table {

  /** Stands where a version has no table, because nobody has asked for that number. */
  val none: Table = new Table(HashIndex.empty, None, None, None)

  /** A table without rows, scanned in an order if one is given. All of them share one hash index. */
  def empty(order: Option[RowOrder]): Table = new Table(HashIndex.empty, order, None, None)

  /** The same as the first table of a store. */
  def first(order: Option[RowOrder]): Table =
    new Table(HashIndex.empty, order, order.map(OrderedIndex.empty), None)
}
