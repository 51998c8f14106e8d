package io.holdfast.table

/** Makes the next [[OrderedIndex]] out of one, copying only the nodes on the way to what it changes.
  *
  * For one thread. After [[freeze]] everything that was built so far is as immutable as a published
  * index.
  *
  * @param memory
  *   is told before nodes are copied or made
  */
private[table] final class OrderedIndexWriter(base: OrderedIndex, private var memory: MemoryUse) {
  private[this] val order = base.order
  private[this] val encoder = order.newEncoder()
  private[this] val stride = order.words + 1
  private[this] val words = new Array[Long](order.words)
  private[this] val path = new OrderedPath
  private[this] var root = base.root
  private[this] var height = base.height
  private[this] var count = base.count
  private[this] var bytes = base.bytes
  private[this] var replacedBytes = 0L
  private[this] var stamp = Stamps.next()
  private[this] val firstStamp = stamp

  def indexBytes: Long = bytes

  /** Bytes of nodes of the base that are no part of this index any more. */
  def replaced: Long = replacedBytes

  /** Adds a key, unless one that agrees with it is there. */
  def insert(key: Array[Byte], keyOffset: Int, keyLength: Int, hash: Long): Unit = {
    encoder.write(key, keyOffset, keyLength, words)
    path.seek(root, height, words, hash)
    if (!path.leaf.isAt(path.leafPosition, words, hash)) {
      if (path.leaf.count == OrderedNode.Capacity) splitFullNodes(hash)
      own(path.leafLevel)
      insertInto(path.leaf, path.leafPosition, words, hash, null)
      count += 1
    }
  }

  /** Removes a key, unless one that agrees with it stays.
    *
    * @param bucket
    *   the bucket of the hash, without the key
    * @param pages
    *   the page table that the bucket points into
    */
  def remove(
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      hash: Long,
      bucket: Array[Long],
      pages: PageTable): Unit = {
    encoder.write(key, keyOffset, keyLength, words)
    if (Bucket.firstWithTag(bucket, hash) == Slot.Empty || !agreesWithAny(hash, bucket, pages)) {
      path.seek(root, height, words, hash)
      if (!path.leaf.isAt(path.leafPosition, words, hash)) {
        throw new IllegalStateException("a key is missing in the ordered index of its store")
      }
      own(path.leafLevel)
      path.leaf.removeAt(path.leafPosition, stride)
      count -= 1
      if (path.leaf.count < OrderedNode.Sparse) joinSparse(path.leafLevel)
    }
  }

  def freeze(): Unit = stamp = Stamps.next()

  /** The index as it is now, good until the next change, or for good if [[freeze]] comes first. */
  def view: OrderedIndex = new OrderedIndex(order, root, height, count, bytes)

  /** The index as it is now. The writer may go on afterwards. */
  def snapshot(): OrderedIndex = {
    freeze()
    view
  }

  private[this] def agreesWithAny(hash: Long, bucket: Array[Long], pages: PageTable): Boolean = {
    val other = new Array[Long](words.length)
    val slots = Bucket.slots(bucket)
    var agrees = false
    var i = 0
    while (i < slots && !agrees) {
      val slot = bucket(i)
      if (slot != Slot.Empty && Slot.hasTag(slot, Slot.tag(hash))) {
        val page = pages.pageOf(slot)
        val offset = Slot.offset(slot)
        val key = RowRecord.keyOffset(offset)
        val keyLength = RowRecord.keyLength(page, offset)
        encoder.write(page, key, keyLength, other)
        agrees = Bytes.hash(page, key, keyLength) == hash && java.util.Arrays.equals(other, words)
      }
      i += 1
    }
    agrees
  }

  // Splits the full nodes at the end of the path, from the highest one down, and goes to the same
  // place again.
  private[this] def splitFullNodes(hash: Long): Unit = {
    var level = path.leafLevel
    while (level > 0 && path.node(level - 1).count == OrderedNode.Capacity) level -= 1
    if (level == 0) {
      growRoot()
      path.seek(root, height, words, hash)
      level = 1
    }
    while (level <= path.leafLevel) {
      if (path.node(level).count == OrderedNode.Capacity) split(level)
      path.seek(root, height, words, hash)
      level += 1
    }
  }

  private[this] def growRoot(): Unit = {
    memory.allocate(OrderedNode.maxBytes(stride))
    val fresh = OrderedNode.withRoom(stamp, stride, 1, leaf = false)
    bytes += fresh.bytes
    insertInto(fresh, 0, new Array[Long](order.words), 0L, root)
    root = fresh
    height += 1
  }

  private[this] def split(level: Int): Unit = {
    own(level)
    val left = path.node(level)
    // Rows that arrive in order leave full nodes behind, not half-full ones.
    val middle =
      if (path.position(level) == left.count && left.isLeaf) left.count - 1 else left.count / 2
    memory.allocate(OrderedNode.maxBytes(stride))
    val right = left.splitAt(middle, stride)
    bytes += right.bytes
    val parent = path.node(level - 1)
    val bound = java.util.Arrays.copyOf(right.entries, order.words)
    val boundHash = right.hash(0, stride)
    insertInto(parent, path.position(level - 1) + 1, bound, boundHash, right)
  }

  // Joins a sparse node with its neighbour, drops it if it is empty, and goes on upwards.
  private[this] def joinSparse(from: Int): Unit = {
    var level = from
    while (level > 0 && path.node(level).count < OrderedNode.Sparse) {
      val parent = path.node(level - 1)
      val at = path.position(level - 1)
      if (path.node(level).count == 0 && parent.count > 1) drop(parent, at)
      else if (at + 1 < parent.count && fitTogether(parent, at)) join(parent, at)
      else if (at > 0 && fitTogether(parent, at - 1)) join(parent, at - 1)
      else return
      level -= 1
    }
    while (height > 1 && root.count == 1) {
      retire(root)
      root = root.children(0)
      height -= 1
    }
  }

  private[this] def fitTogether(parent: OrderedNode, left: Int): Boolean =
    parent.children(left).count + parent.children(left + 1).count <= OrderedNode.Capacity * 3 / 4

  private[this] def join(parent: OrderedNode, left: Int): Unit = {
    val right = parent.children(left + 1)
    val joined = owned(parent.children(left))
    parent.children(left) = joined
    val boundary = joined.count
    val firstBound = (left + 1) * stride
    memory.allocate(right.bytes)
    bytes -= joined.bytes
    joined.append(right, stride)
    bytes += joined.bytes
    // The lower bound of the right node's first child lies in the parent.
    if (!joined.isLeaf) {
      System.arraycopy(parent.entries, firstBound, joined.entries, boundary * stride, stride)
    }
    retire(right)
    parent.removeAt(left + 1, stride)
  }

  private[this] def drop(parent: OrderedNode, at: Int): Unit = {
    retire(parent.children(at))
    parent.removeAt(at, stride)
  }

  // Makes the nodes of the path down to a level this writer's own.
  private[this] def own(level: Int): Unit = {
    if (root.stamp != stamp) {
      root = owned(root)
      path.set(0, root)
    }
    var i = 1
    while (i <= level) {
      val node = path.node(i)
      if (node.stamp != stamp) {
        val fresh = owned(node)
        path.node(i - 1).children(path.position(i - 1)) = fresh
        path.set(i, fresh)
      }
      i += 1
    }
  }

  private[this] def owned(node: OrderedNode): OrderedNode =
    if (node.stamp == stamp) node
    else {
      memory.allocate(node.bytes)
      val fresh = node.copy(stamp, stride)
      if (isOfBase(node)) replacedBytes += node.bytes
      bytes += fresh.bytes - node.bytes
      fresh
    }

  private[this] def retire(node: OrderedNode): Unit = {
    bytes -= node.bytes
    if (isOfBase(node)) replacedBytes += node.bytes
  }

  private[this] def isOfBase(node: OrderedNode): Boolean = node.stamp < firstStamp

  private[this] def insertInto(
      node: OrderedNode,
      position: Int,
      bound: Array[Long],
      hash: Long,
      child: OrderedNode): Unit = {
    if (!node.hasRoom(stride)) memory.allocate(OrderedNode.maxBytes(stride))
    bytes -= node.bytes
    node.insert(position, bound, hash, child)
    bytes += node.bytes
  }
}

private[table] object OrderedIndexWriter {

  /** One that begins with rows that are there already, all nodes its own. O(rows log rows).
    *
    * @param rows
    *   a walk over all of them, which is closed afterwards
    * @param memory
    *   is told what the index holds as it grows, and may refuse it
    */
  def of(order: RowOrder, rows: RowCursor, memory: MemoryUse): OrderedIndexWriter = {
    // Nodes that it outgrows are garbage at once, and would be most of what it tells.
    val writer = new OrderedIndexWriter(OrderedIndex.empty(order), MemoryUse.Unlimited)
    var told = 0L
    var count = 0
    def tell(): Unit = {
      memory.allocate(writer.indexBytes - told)
      told = writer.indexBytes
    }
    try
      while (rows.next()) {
        val key = RowRecord.keyOffset(rows.offset)
        val keyLength = RowRecord.keyLength(rows.page, rows.offset)
        writer.insert(rows.page, key, keyLength, Bytes.hash(rows.page, key, keyLength))
        count += 1
        if (count % RowsUntold == 0) tell()
      }
    finally rows.close()
    tell()
    writer.memory = memory
    writer
  }

  private val RowsUntold = 256
}
