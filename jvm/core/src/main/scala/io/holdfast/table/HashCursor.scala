package io.holdfast.table

/** A walk over all rows of a hash index, in no particular order. */
private[table] final class HashCursor(
    segments: Array[Array[Array[Long]]],
    depth: Int,
    pages: Array[Array[Array[Byte]]])
    extends RowCursor {
  private[this] val entries = 1 << depth
  private[this] var entry = -1
  private[this] var bucket = HashCursor.NoSlots
  private[this] var slots = 0
  private[this] var position = 0
  private[this] var fetched = 0
  private[this] var currentPage: Array[Byte] = HashCursor.NoPage
  private[this] var currentOffset = 0

  override def next(): Boolean = {
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

  override def page: Array[Byte] = currentPage

  override def offset: Int = currentOffset

  private[this] def nextBucket(): Boolean = {
    entry += 1
    while (entry < entries) {
      val candidate = HashIndex.bucketAt(segments, entry)
      // A bucket that several entries share is walked at the first of them only.
      if (entry < (1 << Bucket.depth(candidate))) {
        bucket = candidate
        slots = Bucket.slots(candidate)
        position = 0
        fetched = RowPages.fetch(pages, bucket, slots)
        return true
      }
      entry += 1
    }
    slots = 0
    false
  }
}

private[table] object HashCursor {
  private val NoSlots = new Array[Long](0)
  private val NoPage = new Array[Byte](0)
}
