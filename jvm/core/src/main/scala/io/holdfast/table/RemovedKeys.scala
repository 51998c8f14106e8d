package io.holdfast.table

import java.util.Arrays

/** The keys of the base version that a transaction has removed, so that its delta can name each once
  * and a later put of the same key takes the removal back.
  *
  * A list of [[Slot]]s that point at a record with the key. Only a put of a key that has no row asks
  * for one of them; the first of those makes a table of them (open addressing), so that a
  * transaction that removes and does nothing else does not pay for it. A key that is put again leaves
  * list and table, so that both are as large as there were keys removed at a time. For one thread; no allocation
  * per key except when list or table grow.
  *
  * @param memory
  *   is told before list or table grow
  */
private[table] final class RemovedKeys(memory: MemoryUse) {
  import RemovedKeys._

  private[this] var slots = NoSlots
  private[this] var used = 0

  // One more than the position in `slots`, or 0; without entries as long as nobody has asked.
  private[this] var table = NoTable

  /** Number of keys that are removed at the moment. */
  def count: Int = used

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
    if (used == 0) return false
    if (table.length == 0) makeTable()
    val mask = table.length - 1
    val tag = Slot.tag(hash)
    var i = Slot.hash(tag).toInt & mask
    while (table(i) != 0) {
      val slot = slots(table(i) - 1)
      if (Slot.hasTag(slot, tag) && pages.hasKey(slot, key, keyOffset, keyLength)) {
        forget(i)
        return true
      }
      i = (i + 1) & mask
    }
    false
  }

  /** Copies the slots of removed keys, from a position on. Another call may change the positions. */
  def copy(from: Int, to: Array[Long], count: Int): Unit =
    System.arraycopy(slots, from, to, 0, count)

  // Keys that are removed and put again and again leave nothing behind: the last key takes the place.
  private[this] def forget(i: Int): Unit = {
    val position = table(i) - 1
    closeGap(i)
    used -= 1
    if (position < used) {
      val mask = table.length - 1
      var last = Slot.hash(slots(used)).toInt & mask
      while (table(last) != used + 1) last = (last + 1) & mask
      table(last) = position + 1
      slots(position) = slots(used)
    }
  }

  // No entry may lie behind a gap that its search would end at.
  private[this] def closeGap(emptied: Int): Unit = {
    val mask = table.length - 1
    var gap = emptied
    var i = (gap + 1) & mask
    while (table(i) != 0) {
      val home = Slot.hash(slots(table(i) - 1)).toInt & mask
      if (((i - home) & mask) >= ((i - gap) & mask)) {
        table(gap) = table(i)
        gap = i
      }
      i = (i + 1) & mask
    }
    table(gap) = 0
  }

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
      enter(position)
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
