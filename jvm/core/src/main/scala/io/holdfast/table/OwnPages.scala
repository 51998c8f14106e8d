package io.holdfast.table

/** The pages that a transaction has allocated: which they are, and how much of them is rows that it has
  * replaced itself since. For one thread; no allocation but for a bit for each page.
  *
  * Pages of the base stay until the transaction ends, whatever it replaces there. Its own would too, and
  * a transaction that lasts for hours and puts the same keys over and over would need all of the heap.
  */
private[table] final class OwnPages {
  import OwnPages._

  // One bit for each page id.
  private[this] var bits = NoPages
  private[this] var heldBytes = 0L
  private[this] var replacedBytes = 0L

  def has(id: Int): Boolean =
    (id >>> 6) < bits.length && (bits(id >>> 6) >>> (id & 63) & 1L) != 0

  /** Takes in a page that was allocated. */
  def add(id: Int, bytes: Long): Unit = {
    val word = id >>> 6
    if (word >= bits.length) {
      bits = java.util.Arrays.copyOf(bits, math.max(word + 1, bits.length * 2))
    }
    bits(word) |= 1L << (id & 63)
    heldBytes += bytes
  }

  /** Takes notice of one that was given back. Its id may be allocated again. */
  def gaveBack(bytes: Long): Unit = heldBytes -= bytes

  /** Takes notice of rows in such pages that are no part of the result any more. */
  def replaced(bytes: Int): Unit = replacedBytes += bytes

  /** Heap bytes of the pages that are there. */
  def held: Long = heldBytes

  /** Whether they hold more than twice what is live in them, so that it is time to give some back.
    *
    * @param appended
    *   bytes of all rows that the transaction has written
    */
  def areWasteful(appended: Long): Boolean = heldBytes > 2L * live(appended) + SlackBytes

  /** Whether it is worth to give back more, once that was begun: less is enough to begin than to end, so
    * that what is moved stays in proportion to what is written in between.
    *
    * @param slack
    *   bytes that they may hold in any case
    */
  def areSparse(appended: Long, slack: Long): Boolean =
    heldBytes > live(appended) / 4L * 5L + slack

  // Rows behind those of the base in its last page count too: that is less than a page.
  private[this] def live(appended: Long): Long = appended - replacedBytes
}

private[table] object OwnPages {

  /** What the pages may hold beyond twice what is live in them. */
  val SlackBytes: Long = 4L * Slot.MaxPageBytes

  private val NoPages = new Array[Long](0)
}
