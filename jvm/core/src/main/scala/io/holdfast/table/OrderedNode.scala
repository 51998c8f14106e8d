package io.holdfast.table

/** A node of the copy-on-write B+tree of an [[OrderedIndex]].
  *
  * It holds up to [[OrderedNode.Capacity]] entries of `words + 1` longs: the words of the order and
  * the hash of the key. Entries are sorted by words and then by hash, all unsigned, so that a key
  * among many with equal words is found without walking over them; no two are equal. In an inner
  * node, entry `i` is a lower bound of the entries below child `i`; that of child 0 is never looked
  * at.
  *
  * `stamp` names the writer that may change the node in place; for everybody else it is immutable.
  *
  * @param children
  *   the children of an inner node; null in a leaf
  */
private[table] final class OrderedNode(
    val stamp: Long,
    var entries: Array[Long],
    var children: Array[OrderedNode],
    var count: Int) {

  def isLeaf: Boolean = children == null

  /** Where the entry is, or would be inserted: the first one that is not below (words, hash). */
  def lowerBound(words: Array[Long], hash: Long): Int = search(words, hash, from = 0, atLeast = 0)

  /** The child that holds (words, hash) if any does, and the entries that follow it begin there or in
    * the next one.
    */
  def childFor(words: Array[Long], hash: Long): Int =
    search(words, hash, from = 1, atLeast = 1) - 1

  private def search(words: Array[Long], hash: Long, from: Int, atLeast: Int): Int = {
    val stride = words.length + 1
    var low = from
    var high = count
    while (low < high) {
      val middle = (low + high) >>> 1
      if (compare(middle * stride, words, hash) < atLeast) low = middle + 1 else high = middle
    }
    low
  }

  /** Whether there is an entry (words, hash) at a position. */
  def isAt(entry: Int, words: Array[Long], hash: Long): Boolean =
    entry < count && compare(entry * (words.length + 1), words, hash) == 0

  /** Whether the entry at a position has these words. */
  def hasWords(entry: Int, words: Array[Long]): Boolean = {
    val start = entry * (words.length + 1)
    var i = 0
    while (i < words.length && entries(start + i) == words(i)) i += 1
    i == words.length
  }

  def hash(entry: Int, stride: Int): Long = entries(entry * stride + stride - 1)

  /** Compares the entry at a position of the array with (words, hash): -1, 0 or 1. */
  private def compare(at: Int, words: Array[Long], hash: Long): Int = {
    var i = 0
    while (i < words.length) {
      val order = java.lang.Long.compareUnsigned(entries(at + i), words(i))
      if (order != 0) return order
      i += 1
    }
    java.lang.Long.compareUnsigned(entries(at + words.length), hash)
  }

  def insert(position: Int, words: Array[Long], hash: Long, child: OrderedNode): Unit = {
    val stride = words.length + 1
    ensureRoom(stride)
    System.arraycopy(
      entries,
      position * stride,
      entries,
      (position + 1) * stride,
      (count - position) * stride)
    System.arraycopy(words, 0, entries, position * stride, words.length)
    entries(position * stride + stride - 1) = hash
    if (children != null) {
      System.arraycopy(children, position, children, position + 1, count - position)
      children(position) = child
    }
    count += 1
  }

  def removeAt(position: Int, stride: Int): Unit = {
    val after = count - position - 1
    System.arraycopy(entries, (position + 1) * stride, entries, position * stride, after * stride)
    if (children != null) {
      System.arraycopy(children, position + 1, children, position, after)
      children(count - 1) = null
    }
    count -= 1
  }

  /** Moves the entries from a position on to a new node. */
  def splitAt(position: Int, stride: Int): OrderedNode = {
    val moved = count - position
    val right = OrderedNode.withRoom(stamp, stride, moved, leaf = isLeaf)
    System.arraycopy(entries, position * stride, right.entries, 0, moved * stride)
    if (children != null) {
      System.arraycopy(children, position, right.children, 0, moved)
      java.util.Arrays.fill(children.asInstanceOf[Array[AnyRef]], position, count, null)
    }
    right.count = moved
    count = position
    right
  }

  /** Appends all entries of the node to the right. */
  def append(right: OrderedNode, stride: Int): Unit = {
    if (entries.length < (count + right.count) * stride) enlarge(count + right.count, stride)
    System.arraycopy(right.entries, 0, entries, count * stride, right.count * stride)
    if (children != null) System.arraycopy(right.children, 0, children, count, right.count)
    count += right.count
  }

  def copy(by: Long, stride: Int): OrderedNode = {
    val fresh = OrderedNode.withRoom(by, stride, count, isLeaf)
    System.arraycopy(entries, 0, fresh.entries, 0, count * stride)
    if (children != null) System.arraycopy(children, 0, fresh.children, 0, count)
    fresh.count = count
    fresh
  }

  /** Heap bytes of this node alone. */
  def bytes: Long =
    OrderedNode.ObjectBytes + OrderedNode.ArrayHeaderBytes + 8L * entries.length +
      (if (children == null) 0L else OrderedNode.ArrayHeaderBytes + 4L * children.length)

  /** Whether one more entry fits without a larger array. */
  def hasRoom(stride: Int): Boolean = entries.length >= (count + 1) * stride

  private def ensureRoom(stride: Int): Unit =
    if (!hasRoom(stride)) enlarge(OrderedNode.roomFor(count), stride)

  private def enlarge(room: Int, stride: Int): Unit = {
    entries = java.util.Arrays.copyOf(entries, room * stride)
    if (children != null) children = java.util.Arrays.copyOf(children, room)
  }
}

private[table] object OrderedNode {

  /** Most entries of a node. */
  val Capacity = 64

  /** A node with fewer entries is joined with a neighbour if both fit into one. */
  val Sparse: Int = Capacity / 4

  private val ObjectBytes = 40L
  private val ArrayHeaderBytes = 16L

  // Nodes are copied by every transaction that changes them, so they are not much larger than
  // their content.
  private def roomFor(count: Int): Int = math.min(Capacity, (count + (count >>> 2) + 4) & ~3)

  /** Heap bytes that a node has at most. */
  def maxBytes(stride: Int): Long =
    ObjectBytes + 2 * ArrayHeaderBytes + Capacity * (8L * stride + 4L)

  def withRoom(stamp: Long, stride: Int, count: Int, leaf: Boolean): OrderedNode = {
    val room = roomFor(count)
    new OrderedNode(
      stamp,
      new Array[Long](room * stride),
      if (leaf) null else new Array[OrderedNode](room),
      0)
  }
}
