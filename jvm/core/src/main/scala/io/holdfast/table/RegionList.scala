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

  /** The regions as they are now. */
  def copy: RegionList = new RegionList(java.util.Arrays.copyOf(triples, 3 * count), count)

  def setEnd(region: Int, end: Int): Unit = triples(3 * region + 2) = end
}
