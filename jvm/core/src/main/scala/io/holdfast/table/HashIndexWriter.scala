package io.holdfast.table

import java.util.function.LongConsumer

/** Makes the next [[HashIndex]] out of one, copying only the segments and buckets it changes.
  *
  * For one thread. After [[freeze]] everything that was built so far is as immutable as a published
  * index, and the next change copies again.
  *
  * @param memory
  *   is told before anything is copied
  */
private[table] final class HashIndexWriter(base: HashIndex, memory: MemoryUse) {
  private[this] var segments = base.segments
  // For each segment the time, counted in `freeze`s, of which it is this writer's own; 0 for those of
  // the base.
  private[this] var ownSince: Array[Int] = HashIndexWriter.OwnsNothing
  private[this] var freezes = 1
  private[this] var depth = base.depth
  private[this] var bucketsAtDepth = base.bucketsAtDepth
  private[this] var ownsTop = false
  private[this] var stamp = Stamps.next()
  private[this] val firstStamp = stamp
  private[this] var keyCount = base.keyCount
  private[this] var bytes = base.bytes

  // Bytes of the base index that are no part of this one any more.
  private[this] var replacedBytes = 0L

  // Written so that the reads of `fetch` have a result, and are not left out.
  private[this] var fetched = 0L

  def count: Long = keyCount
  def indexBytes: Long = bytes
  def replaced: Long = replacedBytes

  /** The bucket of a hash, for reading. */
  def bucket(hash: Long): Array[Long] =
    HashIndex.bucketAt(segments, HashIndex.entry(hash, depth))

  /** Reads where the rows of some hashes belong, as [[HashIndex.fetch]] does. */
  def fetch(hashes: Array[Long], count: Int): Unit =
    fetched = HashIndex.fetch(segments, depth, hashes, count)

  /** The bucket of a hash, for changing slots in place.
    *
    * @param current
    *   what [[bucket]] gives now; a copy has its slots at the same positions
    */
  def writable(current: Array[Long], hash: Long): Array[Long] =
    if (Bucket.stamp(current) == stamp) current
    else {
      memory.allocate(Bucket.bytes(current))
      val fresh = Bucket.copy(current, stamp)
      replace(hash, current, fresh)
      fresh
    }

  /** Adds the slot of a row that has no slot yet. */
  def insert(hash: Long, slot: Long): Unit = {
    var current = bucket(hash)
    while (Bucket.isFull(current)) {
      if (Bucket.slots(current) >= Bucket.SplitSlots && maySplit(current)) split(hash, current)
      else resize(hash, current, Bucket.enlarged(current))
      current = bucket(hash)
    }
    Bucket.add(writable(current, hash), slot)
    keyCount += 1
  }

  /** Takes over an index that was made of new rows while this one had none. */
  def fill(rows: NewRows, pages: PageTable, superseded: LongConsumer): Unit =
    if (rows.count > 0L) {
      val made = rows.index(stamp, pages, superseded)
      replacedBytes += base.bytes
      segments = made.segments
      depth = made.depth
      bucketsAtDepth = made.bucketsAtDepth
      ownSince = Array.fill(segments.length)(freezes)
      ownsTop = true
      keyCount = made.keyCount
      bytes = made.bytes
    }

  /** Removes the slot at a position of the hash's bucket, which [[bucket]] gives now. */
  def removeAt(current: Array[Long], hash: Long, position: Int): Unit = {
    val own = writable(current, hash)
    Bucket.removeAt(own, position)
    keyCount -= 1
    if (Bucket.count(own) * 4 < Bucket.slots(own)) shrink(hash, own)
  }

  /** Makes all that was built so far immutable; later changes copy it. */
  def freeze(): Unit = {
    stamp = Stamps.next()
    ownsTop = false
    freezes += 1
  }

  /** The index as it is now, good until the next change, or for good if [[freeze]] comes first. */
  def view: HashIndex = new HashIndex(segments, depth, bucketsAtDepth, keyCount, bytes)

  /** The index as it is now. The writer may go on afterwards. */
  def snapshot(): HashIndex = {
    freeze()
    view
  }

  // A directory much larger than the number of buckets is the mark of colliding hashes. Then the
  // bucket grows instead, so that no choice of keys makes the directory large.
  private[this] def maySplit(bucket: Array[Long]): Boolean =
    Bucket.depth(bucket) < depth ||
      (depth < Slot.DirectoryBits && (1L << depth) <= 64 + keyCount / 4)

  private[this] def split(hash: Long, full: Array[Long]): Unit = {
    val shared = Bucket.depth(full)
    if (shared == depth) doubleDirectory()
    val bit = Slot.PlaceBits + shared
    val n = Bucket.slots(full)
    var ones = 0
    var i = 0
    while (i < n) {
      if (full(i) != Slot.Empty && (Slot.hash(full(i)) >>> bit & 1L) != 0) ones += 1
      i += 1
    }
    val zeros = Bucket.count(full) - ones
    memory.allocate(Bucket.bytesOf(Bucket.slotsFor(zeros)) + Bucket.bytesOf(Bucket.slotsFor(ones)))
    val low = Bucket.empty(Bucket.slotsFor(zeros), shared + 1, stamp)
    val high = Bucket.empty(Bucket.slotsFor(ones), shared + 1, stamp)
    i = 0
    while (i < n) {
      val slot = full(i)
      if (slot != Slot.Empty) {
        Bucket.add(if ((Slot.hash(slot) >>> bit & 1L) != 0) high else low, slot)
      }
      i += 1
    }
    discarded(full)
    bytes += Bucket.bytes(low) + Bucket.bytes(high)
    countBuckets(shared, -1)
    countBuckets(shared + 1, 2)
    val prefix = HashIndex.entry(hash, shared)
    setEntries(prefix, shared + 1, low)
    setEntries(prefix | 1 << shared, shared + 1, high)
  }

  // A bucket that has become mostly empty merges with its buddy, the bucket that differs in the
  // highest bit only; without a buddy it gets fewer slots. A store that shrinks thus gives its
  // index back.
  private[this] def shrink(hash: Long, sparse: Array[Long]): Unit = {
    val own = Bucket.depth(sparse)
    val buddy =
      if (own == 0) sparse
      else HashIndex.bucketAt(segments, HashIndex.entry(hash, own) ^ 1 << (own - 1))
    val together = Bucket.count(sparse) + Bucket.count(buddy)
    if (own > 0 && Bucket.depth(buddy) == own && together <= Bucket.SplitSlots / 2) {
      memory.allocate(Bucket.bytesOf(Bucket.slotsFor(together)))
      val merged = Bucket.empty(Bucket.slotsFor(together), own - 1, stamp)
      Bucket.addAll(merged, sparse)
      Bucket.addAll(merged, buddy)
      discarded(sparse)
      discarded(buddy)
      bytes += Bucket.bytes(merged)
      countBuckets(own, -2)
      countBuckets(own - 1, 1)
      setEntries(HashIndex.entry(hash, own - 1), own - 1, merged)
      while (depth > 0 && bucketsAtDepth(depth) == 0) halveDirectory()
    } else if (Bucket.slotsFor(Bucket.count(sparse)) < Bucket.slots(sparse)) {
      resize(hash, sparse, Bucket.slotsFor(Bucket.count(sparse)))
    }
  }

  private[this] def resize(hash: Long, bucket: Array[Long], slots: Int): Unit = {
    memory.allocate(Bucket.bytesOf(slots))
    replace(hash, bucket, Bucket.resized(bucket, slots, stamp))
  }

  private[this] def replace(hash: Long, old: Array[Long], fresh: Array[Long]): Unit = {
    discarded(old)
    bytes += Bucket.bytes(fresh)
    val own = Bucket.depth(old)
    setEntries(HashIndex.entry(hash, own), own, fresh)
  }

  private[this] def discarded(bucket: Array[Long]): Unit = {
    bytes -= Bucket.bytes(bucket)
    if (Bucket.stamp(bucket) < firstStamp) replacedBytes += Bucket.bytes(bucket)
  }

  // Every directory entry whose low `bits` bits are `prefix`.
  private[this] def setEntries(prefix: Int, bits: Int, bucket: Array[Long]): Unit = {
    val entries = 1 << depth
    val step = 1 << bits
    var entry = prefix
    while (entry < entries) {
      writableSegment(HashIndex.segmentOf(entry))(HashIndex.indexInSegment(entry)) = bucket
      entry += step
    }
  }

  private[this] def writableSegment(number: Int): Array[Array[Long]] = {
    ownTop()
    if (ownSince(number) != freezes) {
      memory.allocate(HashIndex.segmentBytes(segments(number)))
      if (ownSince(number) == 0) replacedBytes += HashIndex.segmentBytes(segments(number))
      segments(number) = segments(number).clone()
      ownSince(number) = freezes
    }
    segments(number)
  }

  private[this] def ownTop(): Unit =
    if (!ownsTop) {
      memory.allocate(HashIndex.topBytes(segments))
      segments = segments.clone()
      bucketsAtDepth = bucketsAtDepth.clone()
      if (ownSince.length != segments.length) ownSince = new Array[Int](segments.length)
      ownsTop = true
    }

  private[this] def countBuckets(ofDepth: Int, change: Int): Unit = {
    ownTop()
    bucketsAtDepth(ofDepth) += change
  }

  private[this] def doubleDirectory(): Unit = {
    memory.allocate(HashIndex.segmentsBytes(segments))
    bytes -= HashIndex.segmentsBytes(segments)
    if (segments.length == 1 && segments(0).length < HashIndex.SegmentEntries) {
      segments = Array(segments(0) ++ segments(0))
    } else {
      // Both halves hold the same segments, so from here on neither may be changed in place.
      segments = segments ++ segments
    }
    depth += 1
    directoryReplaced()
  }

  private[this] def halveDirectory(): Unit = {
    bytes -= HashIndex.segmentsBytes(segments)
    segments =
      if (segments.length > 1) segments.take(segments.length / 2)
      else Array(segments(0).take(segments(0).length / 2))
    depth -= 1
    directoryReplaced()
  }

  private[this] def directoryReplaced(): Unit = {
    bytes += HashIndex.segmentsBytes(segments)
    bucketsAtDepth = bucketsAtDepth.clone()
    ownSince = new Array[Int](segments.length)
    ownsTop = true
  }
}

private[table] object HashIndexWriter {
  private val OwnsNothing = new Array[Int](0)
}
