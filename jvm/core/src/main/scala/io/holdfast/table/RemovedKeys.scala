package io.holdfast.table

/** The keys of the base version that a transaction has removed, so that its delta can name each once
  * and a later put of the same key takes the removal back.
  *
  * Open addressing over [[Slot]]s that point at a record with the key; a key that was put again
  * leaves [[RemovedKeys.Cancelled]] in its place. For one thread; no allocation per key except when
  * the table grows.
  */
private[table] final class RemovedKeys {
  private[this] var slots = RemovedKeys.None
  private[this] var used = 0
  private[this] var removed = 0

  /** Number of keys that are removed at the moment. */
  def count: Int = removed

  def add(slot: Long): Unit = {
    if (used * 2 >= slots.length) grow()
    place(slot)
    used += 1
    removed += 1
  }

  /** Takes back the removal of a key.
    *
    * @return
    *   whether the key was removed
    */
  def cancel(
      hash: Long,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      pages: Array[Array[Array[Byte]]]): Boolean = {
    if (removed == 0) return false
    val mask = slots.length - 1
    val tag = Slot.tag(hash)
    var i = Slot.hash(tag).toInt & mask
    while (slots(i) != Slot.Empty) {
      val slot = slots(i)
      if (slot != RemovedKeys.Cancelled && Slot.hasTag(slot, tag)) {
        val page = RowPages.page(pages, Slot.page(slot))
        val offset = Slot.offset(slot)
        if (RowRecord.keyLength(page, offset) == keyLength &&
          Bytes.equal(page, RowRecord.keyOffset(offset), key, keyOffset, keyLength)) {
          slots(i) = RemovedKeys.Cancelled
          removed -= 1
          return true
        }
      }
      i = (i + 1) & mask
    }
    false
  }

  /** Number of positions that [[at]] takes. */
  def capacity: Int = slots.length

  /** The slot of a removed key at a position, or [[Slot.Empty]]. */
  def at(position: Int): Long =
    if (slots(position) == RemovedKeys.Cancelled) Slot.Empty else slots(position)

  // Slots keep 29 bits of the hash, so beyond 2^29 positions probes get longer, not wrong.
  private[this] def place(slot: Long): Unit = {
    val mask = slots.length - 1
    var i = Slot.hash(slot).toInt & mask
    while (slots(i) != Slot.Empty) i = (i + 1) & mask
    slots(i) = slot
  }

  private[this] def grow(): Unit = {
    val old = slots
    slots = new Array[Long](math.max(16, Integer.highestOneBit(math.max(removed, 1)) * 8))
    used = 0
    var i = 0
    while (i < old.length) {
      if (old(i) != Slot.Empty && old(i) != RemovedKeys.Cancelled) {
        place(old(i))
        used += 1
      }
      i += 1
    }
  }
}

private[table] object RemovedKeys {
  private val None = new Array[Long](0)

  /** A slot of page 0, which no row has. */
  private val Cancelled = 1L
}
