package io.holdfast.table

import java.util.Arrays

/** The keys of the base version that a transaction has removed, so that its delta can name each once
  * and a later put of the same key takes the removal back.
  *
  * A list of [[Slot]]s that point at a record with the key. Only a put of a key that has no row asks
  * for one of them; the first of those makes a table of them (open addressing), so that a
  * transaction that removes and does nothing else does not pay for it. For one thread; no allocation
  * per key except when list or table grow.
  *
  * @param memory
  *   is told before list or table grow
  */
private[table] final class RemovedKeys(memory: MemoryUse) {
  import RemovedKeys._

  private[this] var slots = NoSlots
  private[this] var used = 0
  private[this] var removed = 0

  // One more than the position in `slots`, or 0; without entries as long as nobody has asked.
  private[this] var table = NoTable

  /** Number of keys that are removed at the moment. */
  def count: Int = removed

  /** Heap bytes. */
  def bytes: Long = 8L * slots.length + 4L * table.length

  /** Adds a key that is not in the list.
    *
    * @throws IllegalStateException
    *   if there are [[RemovedKeys.MaxKeys]] already
    */
  def add(slot: Long): Unit = {
    if (used == slots.length) enlarge()
    slots(used) = slot
    used += 1
    removed += 1
    if (table.length != 0) {
      if (used * 2L > table.length && table.length < MaxTable) makeTable()
      else enter(used - 1)
    }
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
      pages: PageTable): Boolean = {
    if (removed == 0) return false
    if (table.length == 0) makeTable()
    val mask = table.length - 1
    val tag = Slot.tag(hash)
    var i = Slot.hash(tag).toInt & mask
    while (table(i) != 0) {
      val slot = slots(table(i) - 1)
      if (slot != Slot.Empty && Slot.hasTag(slot, tag)) {
        if (pages.hasKey(slot, key, keyOffset, keyLength)) {
          slots(table(i) - 1) = Slot.Empty
          removed -= 1
          return true
        }
      }
      i = (i + 1) & mask
    }
    false
  }

  /** Number of positions that [[at]] takes. */
  def size: Int = used

  /** The slot of a removed key at a position, or [[Slot.Empty]]. */
  def at(position: Int): Long = slots(position)

  private[this] def enlarge(): Unit = {
    if (used == MaxKeys) {
      throw new IllegalStateException(
        s"a batch removes more than $MaxKeys keys of one state store partition, which is as many as " +
          "it can; use more shuffle partitions so that each removes fewer")
    }
    val length = math.min(math.max(16L, used * 2L), MaxKeys.toLong).toInt
    memory.allocate(8L * (length - used))
    slots = Arrays.copyOf(slots, length)
  }

  private[this] def makeTable(): Unit = {
    val length = math.min(math.max(64L, Integer.highestOneBit(used) * 8L), MaxTable.toLong).toInt
    memory.allocate(4L * length)
    table = new Array[Int](length)
    var position = 0
    while (position < used) {
      if (slots(position) != Slot.Empty) enter(position)
      position += 1
    }
  }

  // Slots keep 29 bits of the hash, so in a table of 2^30 probes get longer, not wrong.
  private[this] def enter(position: Int): Unit = {
    val mask = table.length - 1
    var i = Slot.hash(slots(position)).toInt & mask
    while (table(i) != 0) i = (i + 1) & mask
    table(i) = position + 1
  }
}

private[table] object RemovedKeys {
  private val NoSlots = new Array[Long](0)
  private val NoTable = new Array[Int](0)

  /** Most keys that can be removed: three quarters of the largest table. */
  val MaxKeys: Int = 3 << 28

  private val MaxTable = 1 << 30
}
