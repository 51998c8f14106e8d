package io.holdfast.table

/** A place between two entries of an ordered tree: the nodes from the root to a leaf and the position
  * in each. For one thread; reused from search to search.
  */
private[table] final class OrderedPath {
  private[this] var nodes = new Array[OrderedNode](4)
  private[this] var positions = new Array[Int](4)
  private[this] var height = 0

  def leafLevel: Int = height - 1
  def node(level: Int): OrderedNode = nodes(level)
  def position(level: Int): Int = positions(level)
  def leaf: OrderedNode = nodes(height - 1)
  def leafPosition: Int = positions(height - 1)

  def set(level: Int, node: OrderedNode): Unit = nodes(level) = node

  /** Goes to the first entry that is not below (words, hash), or to the end of the leaf before it. */
  def seek(root: OrderedNode, levels: Int, words: Array[Long], hash: Long): Unit = {
    reset(levels)
    var node = root
    var level = 0
    while (level < leafLevel) {
      nodes(level) = node
      positions(level) = node.childFor(words, hash)
      node = node.children(positions(level))
      level += 1
    }
    nodes(level) = node
    positions(level) = node.lowerBound(words, hash)
  }

  /** Goes to the first entry of the tree. */
  def seekFirst(root: OrderedNode, levels: Int): Unit = {
    reset(levels)
    nodes(0) = root
    positions(0) = 0
    descend(0)
  }

  /** Whether there is an entry here, after moving to the next leaf from the end of one. */
  def settle(): Boolean = {
    while (leafPosition >= leaf.count) if (!nextLeaf()) return false
    true
  }

  /** Steps over the entry here. */
  def advance(): Unit = positions(height - 1) += 1

  private[this] def nextLeaf(): Boolean = {
    var level = leafLevel - 1
    while (level >= 0 && positions(level) + 1 >= nodes(level).count) level -= 1
    if (level < 0) false
    else {
      positions(level) += 1
      descend(level)
      true
    }
  }

  // Follows the position at a level down to the first entry below it.
  private[this] def descend(from: Int): Unit = {
    var level = from
    while (level < leafLevel) {
      nodes(level + 1) = nodes(level).children(positions(level))
      positions(level + 1) = 0
      level += 1
    }
  }

  private[this] def reset(levels: Int): Unit = {
    if (levels > nodes.length) {
      nodes = java.util.Arrays.copyOf(nodes, levels)
      positions = java.util.Arrays.copyOf(positions, levels)
    }
    height = levels
  }
}
