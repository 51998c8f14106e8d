package io.holdfast.table

/** A walk over all rows of a version or of a moment of a transaction, in no particular order.
  *
  * Begins in front of the first row. For one thread at a time; allocates nothing while it walks. It
  * holds on to what it walks over, so it stays good after its transaction has ended.
  */
final class RowCursor private[table] (
    segments: Array[Array[Array[Long]]],
    depth: Int,
    pages: Array[Array[Array[Byte]]]) {
  private[this] val entries = 1 << depth
  private[this] var entry = -1
  private[this] var bucket = RowCursor.NoSlots
  private[this] var slots = 0
  private[this] var position = 0
  private[this] var currentPage: Array[Byte] = RowCursor.NoPage
  private[this] var currentOffset = 0

  /** Goes to the next row.
    *
    * @return
    *   false when there is none
    */
  def next(): Boolean = {
    var slot = Slot.Empty
    while (slot == Slot.Empty) {
      if (position < slots) {
        slot = bucket(position)
        position += 1
      } else if (!nextBucket()) return false
    }
    currentPage = RowPages.page(pages, Slot.page(slot))
    currentOffset = Slot.offset(slot)
    true
  }

  /** The page that the current row lies in. */
  def page: Array[Byte] = currentPage

  /** Where the record of the current row begins in [[page]]. */
  def offset: Int = currentOffset

  private[this] def nextBucket(): Boolean = {
    entry += 1
    while (entry < entries) {
      val candidate = HashIndex.bucketAt(segments, entry)
      // A bucket that several entries share is walked at the first of them only.
      if (entry < (1 << Bucket.depth(candidate))) {
        bucket = candidate
        slots = Bucket.slots(candidate)
        position = 0
        return true
      }
      entry += 1
    }
    slots = 0
    false
  }
}

private[table] object RowCursor {
  private val NoSlots = new Array[Long](0)
  private val NoPage = new Array[Byte](0)
}
