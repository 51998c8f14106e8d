package io.holdfast.table

/** A bucket of the hash index: up to some 60 slots in one long array.
  *
  * {{{
  * | slots ... | depth << 32 | count | stamp |
  * }}}
  *
  * Slots are found by linear probing from the place that the row's hash gives, and neighbours are in
  * the order of those places (Celis, Larson and Munro, "Robin Hood Hashing", FOCS 1985): a removal
  * moves few slots over the gap it leaves, there are no tombstones, and a row that is not there is
  * known to be missing after as many probes as a row that is. The number of slots follows the number
  * of rows in steps, because a bucket is copied by every transaction that touches it: a bucket that
  * fits costs less to copy and to keep.
  *
  * `depth` is how many hash bits all rows of the bucket share. `stamp` names the writer that may
  * change the array in place; for everybody else it is immutable. Hot path: no allocation except
  * for new buckets.
  */
private[table] object Bucket {

  /** A bucket of this many slots is split rather than enlarged. */
  val SplitSlots = 64

  private val MinSlots = 8
  private val TrailerLongs = 2

  /** Bytes of an array header on a 64-bit JVM. */
  private val ArrayHeaderBytes = 16

  def empty(slots: Int, depth: Int, stamp: Long): Array[Long] = {
    val bucket = new Array[Long](slots + TrailerLongs)
    setMeta(bucket, depth, 0)
    setStamp(bucket, stamp)
    bucket
  }

  def slots(bucket: Array[Long]): Int = bucket.length - TrailerLongs
  def count(bucket: Array[Long]): Int = bucket(bucket.length - 2).toInt
  def depth(bucket: Array[Long]): Int = (bucket(bucket.length - 2) >>> 32).toInt
  def stamp(bucket: Array[Long]): Long = bucket(bucket.length - 1)
  def bytes(bucket: Array[Long]): Long = ArrayHeaderBytes + 8L * bucket.length

  /** Heap bytes of a bucket of so many slots. */
  def bytesOf(slots: Int): Long = ArrayHeaderBytes + 8L * (slots + TrailerLongs)

  def isFull(bucket: Array[Long]): Boolean = {
    val n = slots(bucket)
    count(bucket) >= n - math.max(1, n >>> 4)
  }

  /** How many slots a bucket of `count` rows gets, so that it has room for at least one more. */
  def slotsFor(count: Int): Int = math.max(MinSlots, (count + (count >>> 3) + 2 + 7) & ~7)

  /** How many slots the bucket gets that takes the place of a full one. */
  def enlarged(bucket: Array[Long]): Int = {
    val n = slots(bucket)
    if (n < SplitSlots) math.min(SplitSlots, slotsFor(n + (n >>> 2))) else n + (n >>> 1)
  }

  /** The same rows in a bucket that the writer `stamp` may change. */
  def copy(bucket: Array[Long], stamp: Long): Array[Long] = {
    val fresh = bucket.clone()
    setStamp(fresh, stamp)
    fresh
  }

  /** The same rows in a bucket of another size. */
  def resized(bucket: Array[Long], slots: Int, stamp: Long): Array[Long] = {
    val fresh = empty(slots, depth(bucket), stamp)
    addAll(fresh, bucket)
    fresh
  }

  def addAll(bucket: Array[Long], from: Array[Long]): Unit = {
    val n = slots(from)
    var i = 0
    while (i < n) {
      if (from(i) != Slot.Empty) add(bucket, from(i))
      i += 1
    }
  }

  /** Position of the slot whose row has this key, or -1.
    *
    * @param pages
    *   the page table that the slots point into
    */
  def find(
      bucket: Array[Long],
      hash: Long,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      pages: PageTable): Int = {
    val n = slots(bucket)
    val tag = Slot.tag(hash)
    var i = place(hash, n)
    var probes = 0
    // A search that waits for the bucket is sooner done with the simplest test, though it may probe
    // further than the order of the slots demands.
    while (probes < n) {
      if (bucket(i) == Slot.Empty) return -1
      if (Slot.hasTag(bucket(i), tag) && pages.hasKey(bucket(i), key, keyOffset, keyLength)) {
        return i
      }
      i = after(i, n)
      probes += 1
    }
    -1
  }

  /** Like [[find]], for a row that was seen at a position and is there still, most likely.
    *
    * @param seen
    *   the position, or -1
    */
  def findAgain(
      bucket: Array[Long],
      seen: Int,
      hash: Long,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      pages: PageTable): Int =
    if (seen >= 0 && seen < slots(bucket) && bucket(seen) != Slot.Empty &&
      Slot.hasTag(bucket(seen), Slot.tag(hash)) &&
      pages.hasKey(bucket(seen), key, keyOffset, keyLength)) seen
    else find(bucket, hash, key, keyOffset, keyLength, pages)

  /** A slot that may be the one of a row with this hash, or [[Slot.Empty]] if there is none. */
  def firstWithTag(bucket: Array[Long], hash: Long): Long = {
    val position = positionWithTag(bucket, hash)
    if (position < 0) Slot.Empty else bucket(position)
  }

  /** Where [[firstWithTag]] lies, or -1. Where no row with this hash is, it may also be the position
    * of an empty slot.
    */
  def positionWithTag(bucket: Array[Long], hash: Long): Int =
    search(bucket, hash, Slot.tag(hash), Slot.TagMask, passed = 0)

  /** Whether another slot behind one may be that of a row with the same hash.
    *
    * @param first
    *   where [[positionWithTag]] found a slot
    */
  def hasOtherWithTag(bucket: Array[Long], hash: Long, first: Int): Boolean = {
    val passed = distance(bucket(first), first, slots(bucket))
    val other = search(bucket, hash, Slot.tag(hash), Slot.TagMask, passed + 1)
    other >= 0 && bucket(other) != Slot.Empty
  }

  /** Position of the slot that points at this page and offset, or -1. */
  def findAddress(bucket: Array[Long], slot: Long): Int =
    search(bucket, Slot.hash(slot), Slot.address(slot), Slot.AddressMask, passed = 0)

  // Position of a slot that has these bits below a mask, or -1. It may be an empty one if those are 0.
  private def search(bucket: Array[Long], hash: Long, bits: Long, mask: Long, passed: Int): Int = {
    val n = slots(bucket)
    val begin = place(hash, n) + passed
    var i = if (begin >= n) begin - n else begin
    var probes = passed
    // Most are where the search begins: asking for the bits first saves working out how far.
    while ((bucket(i) & mask) != bits) {
      if (!mayFollow(bucket(i), i, probes, n)) return -1
      i = after(i, n)
      probes += 1
    }
    i
  }

  /** Adds a slot of a row that is not there yet. The bucket must have room. */
  def add(bucket: Array[Long], slot: Long): Unit = {
    val n = slots(bucket)
    var i = place(Slot.hash(slot), n)
    var probes = 0
    while (mayFollow(bucket(i), i, probes, n)) {
      i = after(i, n)
      probes += 1
    }
    // What lies from here to the next gap goes one further.
    var moving = slot
    while (moving != Slot.Empty) {
      val next = bucket(i)
      bucket(i) = moving
      moving = next
      i = after(i, n)
    }
    bucket(bucket.length - 2) += 1
  }

  /** Removes the slot at a position and moves the slots behind it back over the gap. */
  def removeAt(bucket: Array[Long], position: Int): Unit = {
    val n = slots(bucket)
    var gap = position
    var i = after(position, n)
    while (bucket(i) != Slot.Empty && distance(bucket(i), i, n) > 0) {
      bucket(gap) = bucket(i)
      gap = i
      i = after(i, n)
    }
    bucket(gap) = Slot.Empty
    bucket(bucket.length - 2) -= 1
  }

  // Whether a slot at a position is no reason to end a search that has passed so many: a row that
  // belongs where the search began would have been put before an empty slot, and before a row that
  // is nearer to where that one belongs.
  private def mayFollow(slot: Long, position: Int, passed: Int, slots: Int): Boolean =
    slot != Slot.Empty && distance(slot, position, slots) >= passed

  private def after(position: Int, slots: Int): Int =
    if (position + 1 == slots) 0 else position + 1

  // How far behind the place that its row's hash gives a slot lies.
  private def distance(slot: Long, position: Int, slots: Int): Int = {
    val behind = position - place(Slot.hash(slot), slots)
    if (behind < 0) behind + slots else behind
  }

  /** Where the search for a hash begins: its place bits, scaled to the number of slots. */
  def place(hash: Long, slots: Int): Int =
    ((hash.toInt & ((1 << Slot.PlaceBits) - 1)) * slots) >>> Slot.PlaceBits

  private def setMeta(bucket: Array[Long], depth: Int, count: Int): Unit =
    bucket(bucket.length - 2) = depth.toLong << 32 | count.toLong

  private def setStamp(bucket: Array[Long], stamp: Long): Unit =
    bucket(bucket.length - 1) = stamp
}
