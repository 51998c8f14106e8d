package io.holdfast.table

/** A walk over the rows that one entry of an [[OrderedIndex]] stands for: one row, unless keys agree
  * in words and hash. For one thread; reused from entry to entry.
  */
private[table] final class RowsOfEntry(order: RowOrder, pages: PageTable) {
  private[this] val encoder = order.newEncoder()
  private[this] val words = new Array[Long](order.words)
  private[this] var leaf: OrderedNode = null
  private[this] var at = 0
  private[this] var hash = 0L
  private[this] var bucket = RowsOfEntry.NoSlots
  // Which slot comes next, where several agree in the bits of the hash that slots keep.
  private[this] var position = 0
  private[this] var isAmbiguous = false
  // Else the only one, until it has been shown.
  private[this] var only = Slot.Empty
  private[this] var currentPage = RowsOfEntry.NoPage
  private[this] var currentOffset = 0

  def page: Array[Byte] = currentPage
  def offset: Int = currentOffset

  /** Whether the entry has these words. */
  def isAt(those: Array[Long]): Boolean = leaf.hasWords(at, those)

  /** Begins the walk over the rows of an entry.
    *
    * @param inBucket
    *   the bucket of the entry's hash
    */
  def open(node: OrderedNode, entry: Int, inBucket: Array[Long]): Unit = {
    leaf = node
    at = entry
    hash = node.hash(entry, words.length + 1)
    bucket = inBucket
    position = 0
    val first = Bucket.positionWithTag(bucket, hash)
    only = if (first < 0) Slot.Empty else bucket(first)
    isAmbiguous = only != Slot.Empty && Bucket.hasOtherWithTag(bucket, hash, first)
  }

  /** Goes to the next row of the entry, if there is one. */
  def next(): Boolean =
    if (!isAmbiguous) nextOnly() else nextOfSeveral()

  private[this] def nextOnly(): Boolean =
    if (only == Slot.Empty) false
    else {
      goTo(only)
      only = Slot.Empty
      true
    }

  private[this] def nextOfSeveral(): Boolean = {
    var found = false
    while (!found && position < Bucket.slots(bucket)) {
      val slot = bucket(position)
      position += 1
      if (slot != Slot.Empty && Slot.hasTag(slot, Slot.tag(hash))) {
        goTo(slot)
        found = isOfEntry
      }
    }
    found
  }

  private[this] def goTo(slot: Long): Unit = {
    currentPage = pages.pageOf(slot)
    currentOffset = Slot.offset(slot)
  }

  private[this] def isOfEntry: Boolean = {
    val key = RowRecord.keyOffset(currentOffset)
    val keyLength = RowRecord.keyLength(currentPage, currentOffset)
    encoder.write(currentPage, key, keyLength, words)
    Bytes.hash(currentPage, key, keyLength) == hash && leaf.isAt(at, words, hash)
  }
}

private object RowsOfEntry {

  /** A bucket without slots. */
  private val NoSlots = Bucket.empty(slots = 0, depth = 0, stamp = 0L)
  private val NoPage = new Array[Byte](0)
}
