package io.holdfast.table

/** The immutable table of the pages of a version, cut into segments that versions share.
  *
  * A page is a byte array of [[RowRecord]]s, one after another. A page id that was given back is
  * used again: an id means a page only together with the table it was looked up in.
  *
  * @param pages
  *   page `id` is `pages(id / SegmentPages)(id % SegmentPages)`; null where there is none
  * @param live
  *   bytes of each page, record headers and padding included, that rows of this version occupy
  * @param ends
  *   for each page where the last record that this version or one before it wrote ends. Where it is
  *   what is live, every record before it is a row
  * @param end
  *   one more than the largest page id ever given out
  * @param freeIds
  *   ids below `end` without a page
  * @param liveBytes
  *   sum of `live`
  * @param heldBytes
  *   heap bytes of all pages
  */
private[table] final class RowPages(
    val pages: Array[Array[Array[Byte]]],
    val live: Array[Array[Int]],
    val ends: Array[Array[Int]],
    val end: Int,
    val freeIds: List[Int],
    val liveBytes: Long,
    val heldBytes: Long)

private[table] object RowPages {

  private val SegmentShift = 6
  val SegmentPages: Int = 1 << SegmentShift
  private val ArrayHeaderBytes = 16

  val empty: RowPages =
    new RowPages(
      Array(new Array[Array[Byte]](SegmentPages)),
      Array(new Array[Int](SegmentPages)),
      Array(new Array[Int](SegmentPages)),
      end = 1,
      freeIds = Nil,
      liveBytes = 0L,
      heldBytes = 0L)

  def page(pages: Array[Array[Array[Byte]]], id: Int): Array[Byte] =
    pages(id >>> SegmentShift)(id & (SegmentPages - 1))

  /** Reads the beginnings of some rows, so that they are in the processor's cache: rows lie all over
    * the pages, and read together they wait for memory about once. The beginning goes as far
    * as a short key does, which may end in the next line of the cache. Empty slots are passed over.
    *
    * @return
    *   what was read, for the caller to keep: reads without a result are left out
    */
  def fetch(pages: Array[Array[Array[Byte]]], slots: Array[Long], count: Int): Int = {
    var sum = 0
    var i = 0
    while (i < count) {
      val slot = slots(i)
      if (slot != Slot.Empty) {
        val bytes = page(pages, Slot.page(slot))
        val offset = Slot.offset(slot)
        sum += bytes(offset) + bytes(math.min(offset + BeginningBytes, bytes.length) - 1)
      }
      i += 1
    }
    sum
  }

  // A header and a key of a few words.
  private val BeginningBytes = 32

  def segmentOf(id: Int): Int = id >>> SegmentShift

  def indexInSegment(id: Int): Int = id & (SegmentPages - 1)

  /** Rows above this size, in bytes, get a page of their own, so that the unused end of a shared page
    * stays small.
    */
  val MaxSharedRowBytes: Int = Slot.MaxPageBytes / 8

  private val MinPageBytes = 4096

  /** Size of the next page in bytes: pages grow with the store, so that a small store stays small and
    * a large one has few pages. With their headers, four of the largest fill a region of G1 in the
    * smallest heaps, and eight a small page of ZGC. If they were a little larger, a quarter of the
    * region would stay empty, and ZGC would put them among its medium objects.
    */
  def capacityFor(heldBytes: Long, rowBytes: Int): Int = {
    val proportional = math.min(heldBytes / 2, Slot.MaxPageBytes.toLong).toInt & ~(MinPageBytes - 1)
    math.max(math.max(proportional, MinPageBytes) - ArrayHeaderBytes, rowBytes)
  }

  /** Heap bytes of the table itself. */
  def tableBytes(pages: RowPages): Long =
    pages.pages.length.toLong * (3 * ArrayHeaderBytes + SegmentPages * (4 + 4 + 4))

  /** Heap bytes of a page. */
  def bytes(page: Array[Byte]): Long = ArrayHeaderBytes + page.length.toLong
}
