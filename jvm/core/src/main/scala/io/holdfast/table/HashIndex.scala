package io.holdfast.table

/** The immutable root of a hash index: extendible hashing (Fagin, Nievergelt, Pippenger and Strong,
  * "Extendible Hashing", ACM TODS 4(3), 1979) whose directory is shared between versions.
  *
  * The directory has `2^depth` entries, each a [[Bucket]]; a bucket that is shared by several
  * entries is listed under each. It is cut into segments so that a transaction copies only those
  * segments that it changes.
  *
  * @param segments
  *   the directory; entry `i` is `segments(i / SegmentEntries)(i % SegmentEntries)`
  * @param depth
  *   number of hash bits that choose an entry
  * @param bucketsAtDepth
  *   how many buckets have each local depth
  * @param keyCount
  *   number of rows
  * @param bytes
  *   heap bytes of directory and buckets
  */
private[table] final class HashIndex(
    val segments: Array[Array[Array[Long]]],
    val depth: Int,
    val bucketsAtDepth: Array[Int],
    val keyCount: Long,
    val bytes: Long) {

  def bucket(hash: Long): Array[Long] = HashIndex.bucketAt(segments, HashIndex.entry(hash, depth))

  /** Shows the slot of every row. */
  def foreachSlot(use: Long => Unit): Unit = {
    var entry = 0
    while (entry < (1 << depth)) {
      val bucket = HashIndex.bucketAt(segments, entry)
      // A bucket that several entries share is read at the first of them only.
      if (entry < (1 << Bucket.depth(bucket))) {
        var i = 0
        while (i < Bucket.slots(bucket)) {
          if (bucket(i) != Slot.Empty) use(bucket(i))
          i += 1
        }
      }
      entry += 1
    }
  }
}

private[table] object HashIndex {

  private val SegmentShift = 5

  /** Directory entries in a segment: small enough that few changes copy little. */
  val SegmentEntries: Int = 1 << SegmentShift

  private val ReferenceBytes = 4
  private val ArrayHeaderBytes = 16

  val empty: HashIndex = {
    val bucket = Bucket.empty(Bucket.slotsFor(0), depth = 0, stamp = 0L)
    val segments = Array(Array(bucket))
    val atDepth = new Array[Int](Slot.DirectoryBits + 1)
    atDepth(0) = 1
    new HashIndex(segments, 0, atDepth, 0L, Bucket.bytes(bucket) + segmentsBytes(segments))
  }

  /** The directory entry of a hash. */
  def entry(hash: Long, depth: Int): Int = (hash >>> Slot.PlaceBits).toInt & ((1 << depth) - 1)

  def bucketAt(segments: Array[Array[Array[Long]]], entry: Int): Array[Long] =
    segments(entry >>> SegmentShift)(entry & (SegmentEntries - 1))

  /** Reads where the rows of some hashes belong, so that it is in the processor's cache: the place
    * that each hash gives, and the next line of the cache, in which a search often goes on. Read
    * together, the buckets wait for memory about once.
    *
    * @return
    *   what was read, for the caller to keep: reads without a result are left out
    */
  def fetch(
      segments: Array[Array[Array[Long]]],
      depth: Int,
      hashes: Array[Long],
      count: Int): Long = {
    var sum = 0L
    var i = 0
    while (i < count) {
      val found = bucketAt(segments, entry(hashes(i), depth))
      val place = Bucket.place(hashes(i), Bucket.slots(found))
      val next = math.min(place + SlotsInCacheLine, found.length - 1)
      sum += Bucket.stamp(found) + found(place) + found(next)
      i += 1
    }
    sum
  }

  private val SlotsInCacheLine = 8

  def segmentOf(entry: Int): Int = entry >>> SegmentShift

  def indexInSegment(entry: Int): Int = entry & (SegmentEntries - 1)

  def segmentBytes(segment: Array[Array[Long]]): Long =
    ArrayHeaderBytes + ReferenceBytes.toLong * segment.length

  /** Heap bytes of the array of segments, without these. */
  def topBytes(segments: Array[Array[Array[Long]]]): Long =
    ArrayHeaderBytes + ReferenceBytes.toLong * segments.length

  def segmentsBytes(segments: Array[Array[Array[Long]]]): Long =
    ArrayHeaderBytes + segments.length.toLong * (ReferenceBytes + segmentBytes(segments(0)))
}
