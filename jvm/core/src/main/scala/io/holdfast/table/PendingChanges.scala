package io.holdfast.table

/** The newest changes of a transaction, which its indexes do not know yet.
  *
  * A change of a row that has not been looked at for a while waits for memory several times, each
  * time for what the wait before it brought: the bucket, the slot, the row. Changes that are
  * collected here first can wait together, since the processor fetches what different keys need at
  * the same time ("group prefetching", Chen, Ailamaki, Gibbons and Mowry, "Improving Hash Join
  * Performance through Prefetching", ICDE 2004).
  *
  * A put is known by the row that was already written to a page. A removal has a copy of its key. For
  * one thread; no allocation per change.
  */
private[table] final class PendingChanges {
  import PendingChanges._

  private[this] val hashes = new Array[Long](Capacity)
  private[this] val rows = new Array[Long](Capacity)
  private[this] val rowsFound = new Array[Long](Capacity)
  private[this] val positions = new Array[Int](Capacity)
  private[this] val keyEnds = new Array[Int](Capacity)
  private[this] var keys = NoBytes
  private[this] var keysUsed = 0
  private[this] var changes = 0

  def count: Int = changes
  def isFull: Boolean = changes == Capacity

  /** Adds a row that was written. */
  def put(hash: Long, row: Long): Unit = add(hash, row)

  /** Adds a removal. The key has at most [[MaxKeyBytes]]. */
  def remove(hash: Long, key: Array[Byte], keyOffset: Int, keyLength: Int): Unit = {
    if (keys.length == 0) keys = new Array[Byte](Capacity * MaxKeyBytes)
    System.arraycopy(key, keyOffset, keys, keysUsed, keyLength)
    keysUsed += keyLength
    add(hash, Slot.Empty)
  }

  def hash(i: Int): Long = hashes(i)

  /** The row that was put, or [[Slot.Empty]] if the change is a removal. */
  def row(i: Int): Long = rows(i)

  /** Where in its bucket the row that is changed lay when [[fetch]] looked, or -1. */
  def position(i: Int): Int = positions(i)

  /** The bytes that [[keyStart]] and [[keyEnd]] of removals mean. */
  def removedKeys: Array[Byte] = keys
  def keyStart(i: Int): Int = if (i == 0) 0 else keyEnds(i - 1)
  def keyEnd(i: Int): Int = keyEnds(i)

  def clear(): Unit = {
    changes = 0
    keysUsed = 0
  }

  /** Reads what the changes are about to read, so that it is in the processor's cache. */
  def fetch(index: HashIndexWriter, pages: RowPagesWriter): Unit =
    if (changes >= WorthFetching) {
      index.fetch(hashes, changes)
      var i = 0
      while (i < changes) {
        val bucket = index.bucket(hashes(i))
        positions(i) = Bucket.positionWithTag(bucket, hashes(i))
        rowsFound(i) = if (positions(i) < 0) Slot.Empty else bucket(positions(i))
        i += 1
      }
      pages.fetch(rowsFound, changes)
    }

  private[this] def add(hash: Long, row: Long): Unit = {
    hashes(changes) = hash
    rows(changes) = row
    positions(changes) = -1
    keyEnds(changes) = keysUsed
    changes += 1
  }
}

private[table] object PendingChanges {

  /** Longest key of a removal, in bytes. */
  val MaxKeyBytes = 256

  // Processors have some 10 to 20 reads from memory under way at a time.
  private val Capacity = 32

  private val WorthFetching = 4

  private val NoBytes = new Array[Byte](0)
}
