package io.holdfast.table

/** Which records of the pages are rows: a bit for every eight bytes of a page, set where the record of
  * a row begins. Takes 4 KiB for a page, a 64th of the largest.
  *
  * The bits of 32 pages lie in one array, one page after the other, lowest bits first: with an array
  * for each page, setting a bit would also wait for the length of that array.
  */
private[table] object LiveRows {

  private val WordShift = 6
  private val PageShift = 9
  private val GroupShift = 5

  /** Words of bits for a page. */
  private val PageWords = 1 << PageShift

  /** Pages whose bits share an array. */
  private val GroupPages = 1 << GroupShift

  /** Reads the whole index, but no row. O(rows).
    *
    * @param end
    *   one more than the largest page id
    * @return
    *   the bits of each group of pages
    */
  def of(index: HashIndex, end: Int): Array[Array[Long]] = {
    val groups = Array.tabulate((end - 1 >>> GroupShift) + 1) { group =>
      new Array[Long](math.min(end - group * GroupPages, GroupPages) * PageWords)
    }
    val entries = 1 << index.depth
    var entry = 0
    while (entry < entries) {
      val bucket = HashIndex.bucketAt(index.segments, entry)
      // A bucket that several entries share is read at the first of them only.
      if (entry < (1 << Bucket.depth(bucket))) setAll(bucket, groups)
      entry += 1
    }
    // Where empty slots point: there is no page 0.
    groups(0)(0) = 0L
    groups
  }

  /** The id of the page that a word of bits belongs to. */
  def pageOf(group: Int, word: Int): Int = group << GroupShift | word >>> PageShift

  /** Where in its page the record begins that a bit stands for.
    *
    * @param bit
    *   its number in the word
    */
  def offsetOf(word: Int, bit: Int): Int = ((word & (PageWords - 1)) << WordShift | bit) << 3

  // Empty slots are not told apart: a test that is guessed wrong for every fifth slot would cost more
  // than the bit that they set.
  private def setAll(bucket: Array[Long], groups: Array[Array[Long]]): Unit = {
    val slots = Bucket.slots(bucket)
    var i = 0
    while (i < slots) {
      val id = Slot.page(bucket(i))
      val unit = Slot.offset(bucket(i)) >>> 3
      val word = (id & (GroupPages - 1)) << PageShift | unit >>> WordShift
      groups(id >>> GroupShift)(word) |= 1L << unit
      i += 1
    }
  }
}
