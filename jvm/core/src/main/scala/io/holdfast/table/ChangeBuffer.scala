package io.holdfast.table

/** The newest changes of a table, which its indexes do not know yet, in front of those indexes: who
  * wants to look at them has to come through here ([[applied]]), and finds the changes applied.
  *
  * A change of a row that has not been looked at for a while waits for memory several times, each
  * time for what the wait before it brought: the bucket, the slot, the row. Changes that are
  * collected here first can wait together, since the processor fetches what different keys need at
  * the same time ("group prefetching", Chen, Ailamaki, Gibbons and Mowry, "Improving Hash Join
  * Performance through Prefetching", ICDE 2004). While the table has no rows, all of them are
  * collected ([[NewRows]]).
  *
  * A put is known by the row that was already written to a page. A removal has a copy of its key. For
  * one thread; no allocation per change.
  *
  * @param indexes
  *   used by nobody else
  */
private[table] final class ChangeBuffer(
    indexes: TableIndexWriter,
    pages: RowPagesWriter,
    memory: MemoryUse) {
  import ChangeBuffer._

  // Whether all rows are collected. A table that is scanned asks for every row anyway.
  private[this] var isFilling = indexes.keyCount == 0L && !indexes.isOrdered
  // Null as long as there are none.
  private[this] var newRows: NewRows = null

  private[this] var hashes = NoLongs
  private[this] var rows = NoLongs
  private[this] var rowsFound = NoLongs
  private[this] var positions = NoInts
  private[this] var keyEnds = NoInts
  private[this] var keys = NoBytes
  private[this] var keysUsed = 0
  private[this] var count = 0

  /** The indexes with all changes. They are good for looking, not to be kept: later changes go into
    * them when somebody asks again.
    */
  def applied(): TableIndexWriter = {
    if (count != 0) applyAll()
    else if (newRows != null) indexNewRows()
    indexes
  }

  /** As [[TableIndexWriter.makeOrder]], with all changes. What comes afterwards changes the order, too. */
  def makeOrder(): Boolean = {
    isFilling = false
    applied().makeOrder()
  }

  /** Heap bytes of buffer and indexes, with nothing applied for the question's sake. */
  def bytes: Long = indexes.bytes + (if (newRows == null) 0L else newRows.bytes)

  /** Heap bytes of the base's indexes that are no part of the result any more. */
  def replacedBytes: Long = indexes.replacedBytes

  /** Adds a row that was written. */
  def put(hash: Long, row: Long): Unit =
    if (isFilling) {
      if (newRows == null) newRows = new NewRows(memory)
      newRows.add(Slot.tag(hash) | row)
    } else {
      makeRoom()
      add(hash, row)
    }

  /** Adds the removal of a key, which may have no row. */
  def remove(hash: Long, key: Array[Byte], keyOffset: Int, keyLength: Int): Unit = {
    isFilling = false
    if (newRows != null) indexNewRows()
    if (keyLength > MaxKeyBytes) {
      applied().remove(hash, key, keyOffset, keyLength, seen = -1)
    } else {
      makeRoom()
      if (keys.length == 0) keys = new Array[Byte](Capacity * MaxKeyBytes)
      System.arraycopy(key, keyOffset, keys, keysUsed, keyLength)
      keysUsed += keyLength
      add(hash, Slot.Empty)
    }
  }

  private[this] def makeRoom(): Unit =
    if (count == Capacity) applyAll()
    else if (hashes.length == 0) {
      hashes = new Array[Long](Capacity)
      rows = new Array[Long](Capacity)
      rowsFound = new Array[Long](Capacity)
      positions = new Array[Int](Capacity)
      keyEnds = new Array[Int](Capacity)
    }

  private[this] def add(hash: Long, row: Long): Unit = {
    hashes(count) = hash
    rows(count) = row
    keyEnds(count) = keysUsed
    count += 1
  }

  private[this] def indexNewRows(): Unit = {
    isFilling = false
    indexes.fill(newRows)
    newRows = null
  }

  private[this] def applyAll(): Unit = {
    fetch()
    var keyStart = 0
    var i = 0
    while (i < count) {
      if (rows(i) != Slot.Empty) indexes.put(hashes(i), rows(i), positions(i))
      else indexes.remove(hashes(i), keys, keyStart, keyEnds(i) - keyStart, positions(i))
      keyStart = keyEnds(i)
      i += 1
    }
    count = 0
    keysUsed = 0
  }

  // Reads what the changes are about to read, so that it is in the processor's cache.
  private[this] def fetch(): Unit =
    if (count >= WorthFetching) {
      indexes.locate(hashes, count, positions, rowsFound)
      pages.fetch(rowsFound, count)
    } else java.util.Arrays.fill(positions, 0, count, -1)
}

private[table] object ChangeBuffer {

  // Longest key of a removal that is collected, in bytes.
  private val MaxKeyBytes = 256

  // Processors have some 10 to 20 reads from memory under way at a time.
  private val Capacity = 32

  private val WorthFetching = 4

  private val NoBytes = new Array[Byte](0)
  private val NoInts = new Array[Int](0)
  private val NoLongs = new Array[Long](0)
}
