package io.holdfast.table

/** The parts of pages that a transaction has written, in the order in which they were begun: page
  * id, first byte, end. For one thread.
  */
private[table] final class RegionList private (
    private[this] var triples: Array[Int],
    private[this] var count: Int) {

  def this() = this(new Array[Int](3 * 8), 0)

  def size: Int = count
  def page(region: Int): Int = triples(3 * region)
  def start(region: Int): Int = triples(3 * region + 1)
  def end(region: Int): Int = triples(3 * region + 2)

  /** What was written to a region that is at its end. */
  def rows(region: Int, pages: PageTable): WrittenRows =
    new WrittenRows(pages.page(page(region)), start(region), end(region))

  /** Bytes of all regions. */
  def bytes: Long = (0 until count).iterator.map(region => (end(region) - start(region)).toLong).sum

  /** Adds an empty region and returns its number. */
  def add(page: Int, start: Int): Int = {
    if (3 * count == triples.length) triples = java.util.Arrays.copyOf(triples, triples.length * 2)
    triples(3 * count) = page
    triples(3 * count + 1) = start
    triples(3 * count + 2) = start
    count += 1
    count - 1
  }

  /** The number of the region of each page, for pages with one region at most.
    *
    * @param pageEnd
    *   one more than the largest page id
    */
  def byPage(pageEnd: Int): Array[Int] = {
    val regions = new Array[Int](pageEnd)
    (0 until count).foreach(region => regions(page(region)) = region)
    regions
  }

  /** Forgets a region, whose page goes. The numbers of the others stay until [[pack]]. */
  def drop(region: Int): Unit = triples(3 * region) = RegionList.NoPage

  /** Takes out what was dropped, and returns what the number of a region is then.
    *
    * @param region
    *   one that was not dropped, or -1
    */
  def pack(region: Int): Int = {
    var kept = 0
    var result = -1
    var i = 0
    while (i < count) {
      if (page(i) != RegionList.NoPage) {
        if (i == region) result = kept
        System.arraycopy(triples, 3 * i, triples, 3 * kept, 3)
        kept += 1
      }
      i += 1
    }
    count = kept
    result
  }

  /** The regions as they are now. */
  def copy: RegionList = new RegionList(java.util.Arrays.copyOf(triples, 3 * count), count)

  def setEnd(region: Int, end: Int): Unit = triples(3 * region + 2) = end
}

private object RegionList {

  // Ids begin at 1.
  private val NoPage = 0
}
