package io.holdfast.table

/** Some records of a page, of which the index is asked together which are rows, so that they wait for
  * memory together. For one thread.
  */
private[table] final class RecordGroup(index: HashIndex) {
  private[this] val hashes = new Array[Long](RecordGroup.Records)

  // Written so that the reads of `fetch` have a result, and are not left out.
  private[this] var fetched = 0L

  /** Where the records begin in their page. */
  val offsets: Array[Int] = new Array[Int](RecordGroup.Records)

  /** Leaves of the first records those that are rows.
    *
    * @return
    *   how many
    */
  def keepRows(id: Int, page: Array[Byte], count: Int): Int = {
    var i = 0
    while (i < count) {
      hashes(i) = hash(page, offsets(i))
      i += 1
    }
    fetched = HashIndex.fetch(index.segments, index.depth, hashes, count)
    var kept = 0
    i = 0
    while (i < count) {
      if (isFound(hashes(i), id, offsets(i))) {
        offsets(kept) = offsets(i)
        kept += 1
      }
      i += 1
    }
    kept
  }

  /** Whether a record is a row. */
  def isRow(id: Int, page: Array[Byte], offset: Int): Boolean =
    isFound(hash(page, offset), id, offset)

  private[this] def isFound(hash: Long, id: Int, offset: Int): Boolean =
    Bucket.findAddress(index.bucket(hash), Slot(hash, id, offset)) >= 0

  private[this] def hash(page: Array[Byte], offset: Int): Long =
    Bytes.hash(page, RowRecord.keyOffset(offset), RowRecord.keyLength(page, offset))
}

private[table] object RecordGroup {

  /** Records of a group, at most. */
  val Records = 32
}
