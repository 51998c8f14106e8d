package io.holdfast.table

import java.util.function.LongConsumer

/** The rows that were put into a table without rows, before it has an index: a load of a snapshot, or
  * the first batch of a query.
  *
  * An index that grows with its rows copies each slot several times, and waits for memory at every
  * row. Here the slots are only collected, divided by some of their hash bits; in the end, when their
  * number is known, buckets of the right size are filled one part after the other, each of which the
  * processor's cache holds ("radix-clustering", Manegold, Boncz and Kersten, "Optimizing Main-Memory
  * Join on Modern Hardware", IEEE TKDE 14(4), 2002).
  *
  * For one thread; no allocation per row.
  *
  * @param memory
  *   is told before the rows get more room, and before the index is made
  */
private[table] final class NewRows(memory: MemoryUse) {
  import NewRows._

  private[this] val parts = Array.fill(Parts)(NoSlots)
  private[this] val used = new Array[Int](Parts)
  private[this] var added = 0L
  private[this] var slotBytes = 0L

  /** Number of rows, those of one key that was put several times each counted. */
  def count: Long = added

  /** Heap bytes. */
  def bytes: Long = slotBytes

  /** Adds the slot of a row that was written. */
  def add(slot: Long): Unit = {
    val part = Slot.hash(slot).toInt >>> Slot.PlaceBits & (Parts - 1)
    if (used(part) == parts(part).length) enlarge(part)
    parts(part)(used(part)) = slot
    used(part) += 1
    added += 1
  }

  /** Makes the index, and leaves this empty.
    *
    * @param stamp
    *   of the writer that may change the buckets
    * @param pages
    *   the page table that the slots point into
    * @param superseded
    *   is told each slot whose key was put again later
    */
  def index(stamp: Long, pages: PageTable, superseded: LongConsumer): HashIndex = {
    val all = added
    val made = indexOf(stamp, pages, superseded)
    if (made.keyCount >= all / 2) made
    else {
      // Few keys were put over and over. They get an index for so many.
      addAll(made)
      indexOf(stamp, pages, superseded)
    }
  }

  private[this] def addAll(index: HashIndex): Unit =
    for {
      segment <- index.segments
      bucket <- segment
      i <- 0 until Bucket.slots(bucket)
      if bucket(i) != Slot.Empty
    } add(bucket(i))

  private[this] def indexOf(stamp: Long, pages: PageTable, superseded: LongConsumer): HashIndex = {
    val depth = depthFor(added)
    val segments = emptySegments(depth)
    // Where the parts divide more finely than the directory, several go into one bucket.
    val bits = math.min(depth, PartBits)
    var bytes = 0L
    var rows = 0L
    var group = 0
    while (group < (1 << bits)) {
      val buckets = emptyBuckets(group, bits, depth, stamp)
      var part = group
      while (part < Parts) {
        fill(buckets, part, bits, depth, pages, superseded)
        part += 1 << bits
      }
      var i = 0
      while (i < buckets.length) {
        val entry = i << bits | group
        segments(HashIndex.segmentOf(entry))(HashIndex.indexInSegment(entry)) = buckets(i)
        bytes += Bucket.bytes(buckets(i))
        rows += Bucket.count(buckets(i))
        i += 1
      }
      group += 1
    }
    val atDepth = new Array[Int](Slot.DirectoryBits + 1)
    atDepth(depth) = 1 << depth
    new HashIndex(segments, depth, atDepth, rows, bytes + HashIndex.segmentsBytes(segments))
  }

  // The buckets of one group, each with room for the rows that it will get.
  private[this] def emptyBuckets(
      group: Int,
      bits: Int,
      depth: Int,
      stamp: Long): Array[Array[Long]] = {
    val counts = new Array[Int](1 << (depth - bits))
    var part = group
    while (part < Parts) {
      val slots = parts(part)
      var i = 0
      while (i < used(part)) {
        counts(inGroup(slots(i), bits, depth)) += 1
        i += 1
      }
      part += 1 << bits
    }
    val buckets = new Array[Array[Long]](counts.length)
    var i = 0
    while (i < buckets.length) {
      memory.allocate(Bucket.bytesOf(Bucket.slotsFor(counts(i))))
      buckets(i) = Bucket.empty(Bucket.slotsFor(counts(i)), depth, stamp)
      i += 1
    }
    buckets
  }

  private[this] def fill(
      buckets: Array[Array[Long]],
      part: Int,
      bits: Int,
      depth: Int,
      pages: PageTable,
      superseded: LongConsumer): Unit = {
    val slots = parts(part)
    var i = 0
    while (i < used(part)) {
      val slot = slots(i)
      val bucket = buckets(inGroup(slot, bits, depth))
      val position = find(bucket, slot, pages)
      if (position < 0) Bucket.add(bucket, slot)
      else {
        superseded.accept(bucket(position))
        bucket(position) = slot
      }
      i += 1
    }
    added -= used(part)
    slotBytes -= bytesOf(slots)
    parts(part) = NoSlots
    used(part) = 0
  }

  // Position of the row that has the key of a slot's row, or -1. Rows are looked at only if all bits
  // of their hashes are the same.
  private[this] def find(bucket: Array[Long], slot: Long, pages: PageTable): Int = {
    val hash = Slot.hash(slot)
    if (Bucket.positionWithTag(bucket, hash) < 0) -1
    else {
      val page = pages.pageOf(slot)
      val offset = Slot.offset(slot)
      val key = RowRecord.keyOffset(offset)
      Bucket.find(bucket, hash, page, key, RowRecord.keyLength(page, offset), pages)
    }
  }

  private[this] def enlarge(part: Int): Unit = {
    val length = math.max(LeastSlots, parts(part).length + (parts(part).length >>> 1))
    memory.allocate(Bucket.bytesOf(length))
    val larger = java.util.Arrays.copyOf(parts(part), length)
    slotBytes += bytesOf(larger) - bytesOf(parts(part))
    parts(part) = larger
  }
}

private[table] object NewRows {
  private val PartBits = 8
  private val Parts = 1 << PartBits
  private val LeastSlots = 16
  private val NoSlots = new Array[Long](0)

  // Buckets get between half and all of this many rows on average, like those of an index that has
  // grown, and all but a few can take some more before they split.
  private val RowsInBucket = Bucket.SplitSlots * 11 / 16

  private def depthFor(rows: Long): Int = {
    var depth = 0
    while (depth < Slot.DirectoryBits && rows >>> depth > RowsInBucket) depth += 1
    depth
  }

  private def emptySegments(depth: Int): Array[Array[Array[Long]]] = {
    val entries = math.min(1 << depth, HashIndex.SegmentEntries)
    Array.fill((1 << depth) / entries)(new Array[Array[Long]](entries))
  }

  // Which of the buckets of its group a slot belongs into: directory entries of a group have their
  // lowest `bits` bits in common.
  private def inGroup(slot: Long, bits: Int, depth: Int): Int =
    HashIndex.entry(Slot.hash(slot), depth) >>> bits

  private def bytesOf(slots: Array[Long]): Long =
    if (slots eq NoSlots) 0L else Bucket.bytes(slots)
}
