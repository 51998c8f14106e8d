package io.holdfast.table

/** The immutable root of an ordered index: a B+tree (Comer, "The Ubiquitous B-Tree", ACM Computing
  * Surveys 11(2), 1979) over the keys of a version, in the order of a [[RowOrder]].
  *
  * It is kept beside the hash index of stores that are scanned by prefix or by range. An entry is the
  * words that the order gives a key, and the key's hash, by which the hash index has the row: so a
  * search looks at no row, and a row that gets another value or another place changes nothing here.
  * Keys that agree in words and hash have one entry.
  *
  * @param count
  *   number of entries
  * @param height
  *   number of levels, 1 for a lone leaf
  * @param bytes
  *   heap bytes of all nodes
  */
private[table] final class OrderedIndex(
    val order: RowOrder,
    val root: OrderedNode,
    val height: Int,
    val count: Long,
    val bytes: Long)

private[table] object OrderedIndex {
  def empty(order: RowOrder): OrderedIndex = {
    val leaf = OrderedNode.withRoom(stamp = 0L, stride = order.words + 1, count = 0, leaf = true)
    new OrderedIndex(order, leaf, 1, 0L, leaf.bytes)
  }
}
