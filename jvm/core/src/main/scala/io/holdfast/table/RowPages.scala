package io.holdfast.table

/** The pages of a version, which its tables share. Immutable.
  *
  * @param table
  *   the pages by their ids
  * @param ids
  *   which ids have a page
  * @param liveBytes
  *   bytes of all rows, record headers and padding included
  * @param pageBytes
  *   heap bytes of all pages
  */
private[table] final class RowPages(
    val table: PageTable,
    val ids: PageIds,
    val liveBytes: Long,
    val pageBytes: Long) {

  /** Heap bytes of pages and table. */
  def heldBytes: Long = pageBytes + table.bytes
}

private[table] object RowPages {
  private val ArrayHeaderBytes = 16

  val empty: RowPages =
    new RowPages(PageTable.empty, PageIds.none, liveBytes = 0L, pageBytes = 0L)

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
  def capacityFor(pageBytes: Long, rowBytes: Int): Int = {
    val proportional = math.min(pageBytes / 2, Slot.MaxPageBytes.toLong).toInt & ~(MinPageBytes - 1)
    math.max(math.max(proportional, MinPageBytes) - ArrayHeaderBytes, rowBytes)
  }

  /** Heap bytes of a page of so many bytes. */
  def bytes(capacity: Int): Long = ArrayHeaderBytes + capacity.toLong

  /** Heap bytes of a page. */
  def bytes(page: Array[Byte]): Long = bytes(page.length)
}
