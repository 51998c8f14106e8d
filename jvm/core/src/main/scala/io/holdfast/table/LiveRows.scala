package io.holdfast.table

/** Which records of the pages are rows of some tables: a bit for every eight bytes of a page, set where
  * the record of a row begins. Takes a 64th of the pages; a page of one large row has one word.
  *
  * The bits of 32 pages lie in one array, one page after the other, lowest bits first: with an array
  * for each page, setting a bit would also wait for the length of that array.
  *
  * @param starts
  *   for each page the first of its words in the array of its group
  * @param groups
  *   the bits of each group of 32 pages
  */
private[table] final class LiveRows private (starts: Array[Int], groups: Array[Array[Long]]) {
  import LiveRows._

  // The page that is walked, and its words that are still to come.
  private[this] var id = 0
  private[this] var words = NoWords
  private[this] var firstWord = 0
  private[this] var word = 0
  private[this] var lastWord = 0
  // Those of the word before, of `nextOffset`.
  private[this] var bits = 0L

  /** Goes to the next eight times 64 bytes in which a row begins.
    *
    * @return
    *   their bits, or 0 when there are no more
    */
  def nextBits(): Long = {
    var bits = nextBitsOfPage()
    while (bits == 0L && id + 1 < starts.length) {
      goTo(id + 1, 0)
      bits = nextBitsOfPage()
    }
    bits
  }

  /** Like [[nextBits]], up to the end of the page. */
  def nextBitsOfPage(): Long = {
    var bits = 0L
    while (bits == 0L && word < lastWord) {
      bits = words(word)
      word += 1
    }
    bits
  }

  /** Where in the page the next row begins, or -1 when there are no more; not to be mixed with
    * [[nextBitsOfPage]] within a page.
    */
  def nextOffset(): Int = {
    if (bits == 0L) bits = nextBitsOfPage()
    if (bits == 0L) -1
    else {
      val next = offset + (java.lang.Long.numberOfTrailingZeros(bits) << 3)
      bits &= bits - 1L
      next
    }
  }

  /** Goes to where a record begins in a page; the bits of those before it are 0 from then on. */
  def goTo(page: Int, offset: Int): Unit = {
    id = page
    bits = 0L
    words = groups(id >>> GroupShift)
    firstWord = starts(id)
    word = firstWord + (offset >>> WordShift + 3)
    lastWord =
      if (id + 1 < starts.length && inSameGroup(id, id + 1)) starts(id + 1) else words.length
    if (offset > 0 && word < lastWord) words(word) &= -1L << (offset >>> 3)
  }

  /** The page of the bits that [[nextBits]] gave. */
  def page: Int = id

  /** Where in its page the record begins that the lowest of those bits stands for; the next bit
    * stands for eight bytes later.
    */
  def offset: Int = word - 1 - firstWord << WordShift + 3
}

private[table] object LiveRows {
  private val WordShift = 6

  // 32 pages share an array.
  private val GroupShift = 5

  private val NoWords = new Array[Long](0)

  /** Heap bytes of the bits. */
  def bytes(table: PageTable, end: Int): Long = {
    var bytes = Integer.BYTES.toLong * end
    var id = 1
    while (id < end) {
      bytes += java.lang.Long.BYTES.toLong * wordsOf(table, id)
      id += 1
    }
    bytes
  }

  /** Reads the whole index of each table, and of the pages only how large they are. O(rows and pages).
    *
    * @param end
    *   one more than the largest page id
    */
  def of(indexes: Array[HashIndex], table: PageTable, end: Int): LiveRows = {
    val starts = new Array[Int](end)
    val groups = Array.tabulate((end - 1 >>> GroupShift) + 1)(group(table, starts, _))
    indexes.foreach(setAll(_, starts, groups))
    new LiveRows(starts, groups)
  }

  private def setAll(index: HashIndex, starts: Array[Int], groups: Array[Array[Long]]): Unit = {
    val entries = 1 << index.depth
    var entry = 0
    while (entry < entries) {
      val bucket = HashIndex.bucketAt(index.segments, entry)
      // A bucket that several entries share is read at the first of them only.
      if (entry < (1 << Bucket.depth(bucket))) setAll(bucket, starts, groups)
      entry += 1
    }
  }

  // Makes the array of a group, and says where the words of its pages begin.
  private def group(table: PageTable, starts: Array[Int], number: Int): Array[Long] = {
    val end = math.min(starts.length, number + 1 << GroupShift)
    var id = number << GroupShift
    var words = 0
    while (id < end) {
      starts(id) = words
      words += wordsOf(table, id)
      id += 1
    }
    new Array[Long](words)
  }

  // Where empty slots point there is no page, but a word, since they are not told apart.
  private def wordsOf(table: PageTable, id: Int): Int = {
    val page = table.page(id)
    if (page == null) if (id == 0) 1 else 0
    else if (isOneRow(table, id, page)) 1
    else (page.length >>> 3 + WordShift) + 1
  }

  private def isOneRow(table: PageTable, id: Int, page: Array[Byte]): Boolean =
    table.live(id) == page.length && RowRecord.sizeAt(page, 0) == page.length

  private def inSameGroup(one: Int, other: Int): Boolean =
    one >>> GroupShift == other >>> GroupShift

  // Empty slots are not told apart: a test that is guessed wrong for every fifth slot would cost more
  // than the bit that they set.
  private def setAll(bucket: Array[Long], starts: Array[Int], groups: Array[Array[Long]]): Unit = {
    val slots = Bucket.slots(bucket)
    var i = 0
    while (i < slots) {
      val id = Slot.page(bucket(i))
      val unit = Slot.offset(bucket(i)) >>> 3
      groups(id >>> GroupShift)(starts(id) + (unit >>> WordShift)) |= 1L << unit
      i += 1
    }
  }
}
