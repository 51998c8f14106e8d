package io.holdfast.table

/** Where rows lie: the pages of a version by their ids, and what is known of each page. Everything
  * that looks at a row by its [[Slot]] comes here.
  *
  * A page is a byte array of [[RowRecord]]s, one after another. A page id that was given back is
  * used again: an id means a page only together with the table it was looked up in. The table is cut
  * into segments that versions share.
  *
  * Immutable for everybody but the [[PageTableWriter]] that made it, which changes the segments that
  * are its own in place until it is told to freeze. Any thread may read. Hot path: no allocation.
  *
  * @param pages
  *   page `id` is `pages(id / SegmentPages)(id % SegmentPages)`; null where there is none
  * @param facts
  *   two ints for each page, in segments alike: the bytes that rows of this version occupy in it,
  *   record headers and padding included, and where the last record ends that this version or one
  *   before it wrote. Where the two are equal, every record of the page is a row. What lies behind
  *   the end is somebody else's
  */
private[table] final class PageTable(
    private[table] val pages: Array[Array[Array[Byte]]],
    private[table] val facts: Array[Array[Int]]) {
  import PageTable._

  def segments: Int = pages.length

  /** The page with an id, or null. */
  def page(id: Int): Array[Byte] = pages(segmentOf(id))(indexInSegment(id))

  /** The page that a slot points at. */
  def pageOf(slot: Long): Array[Byte] = page(Slot.page(slot))

  /** Bytes of rows in a page. */
  def live(id: Int): Int = facts(segmentOf(id))(liveIndex(id))

  /** Where the records of a page end. */
  def end(id: Int): Int = facts(segmentOf(id))(endIndex(id))

  /** Where the records of a page end if all of them are rows, and 0 otherwise. */
  def endOfRows(id: Int): Int = {
    val segment = facts(segmentOf(id))
    val end = segment(endIndex(id))
    if (segment(liveIndex(id)) == end) end else 0
  }

  /** Whether the row that a slot points at has a key. */
  def hasKey(slot: Long, key: Array[Byte], keyOffset: Int, keyLength: Int): Boolean =
    RowRecord.hasKey(pageOf(slot), Slot.offset(slot), key, keyOffset, keyLength)

  /** Reads the beginnings of some rows, so that they are in the processor's cache: rows lie all over
    * the pages, and read together they wait for memory about once. The beginning goes as far
    * as a short key does, which may end in the next line of the cache. Empty slots are passed over.
    *
    * @return
    *   what was read, for the caller to keep: reads without a result are left out
    */
  def fetch(slots: Array[Long], count: Int): Int = {
    var sum = 0
    var i = 0
    while (i < count) {
      val slot = slots(i)
      if (slot != Slot.Empty) {
        val bytes = pageOf(slot)
        val offset = Slot.offset(slot)
        sum += bytes(offset) + bytes(math.min(offset + BeginningBytes, bytes.length) - 1)
      }
      i += 1
    }
    sum
  }

  /** Heap bytes of the table itself, without the pages. */
  def bytes: Long = segments.toLong * SegmentBytes
}

private[table] object PageTable {
  private val SegmentShift = 6

  val SegmentPages: Int = 1 << SegmentShift

  /** Facts of each page, in this order: live bytes, end. */
  private val PageFacts = 2

  private val ArrayHeaderBytes = 16
  private val ReferenceBytes = 4

  /** Heap bytes of a segment. */
  val SegmentBytes: Int =
    2 * ArrayHeaderBytes + SegmentPages * (ReferenceBytes + PageFacts * Integer.BYTES)

  // A header and a key of a few words.
  private val BeginningBytes = 32

  val empty: PageTable = new PageTable(Array(noPages()), Array(noFacts()))

  def segmentOf(id: Int): Int = id >>> SegmentShift

  def indexInSegment(id: Int): Int = id & (SegmentPages - 1)

  /** Where the live bytes of a page are in the facts of its segment. */
  def liveIndex(id: Int): Int = PageFacts * indexInSegment(id)

  /** Where the end of a page's records is in the facts of its segment. */
  def endIndex(id: Int): Int = PageFacts * indexInSegment(id) + 1

  /** A segment of pages without any. */
  def noPages(): Array[Array[Byte]] = new Array[Array[Byte]](SegmentPages)

  /** The facts of a segment without pages. */
  def noFacts(): Array[Int] = new Array[Int](PageFacts * SegmentPages)
}
