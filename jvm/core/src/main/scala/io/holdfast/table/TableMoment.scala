package io.holdfast.table

/** The rows of a table by its index and pages, both of one moment. */
private[table] final class TableMoment(index: HashIndex, pages: PageTable)
    extends TableWalk
    with RowsOfMoment {

  override def find(key: Array[Byte], keyOffset: Int, keyLength: Int): Long =
    TableMoment.find(index, pages, key, keyOffset, keyLength)

  override def page(row: Long): Array[Byte] = pages.page(Slot.page(row))

  override private[holdfast] def fetch(hashes: Array[Long], count: Int): Long =
    TableMoment.fetch(index, pages, hashes, count)

  override protected def finish(): Unit = ()
}

private[table] object TableMoment {

  /** The row with a key, as a row reference, or [[Rows.Absent]]. */
  def find(
      index: HashIndex,
      pages: PageTable,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int): Long = {
    val hash = Bytes.hash(key, keyOffset, keyLength)
    val bucket = index.bucket(hash)
    val position = Bucket.find(bucket, hash, key, keyOffset, keyLength, pages)
    if (position < 0) Rows.Absent else bucket(position)
  }

  /** As [[RowsByKey.fetch]]. */
  def fetch(index: HashIndex, pages: PageTable, hashes: Array[Long], count: Int): Long = {
    val fetched = HashIndex.fetch(index.segments, index.depth, hashes, count)
    var i = 0
    while (i < count) {
      hashes(i) = Bucket.firstWithTag(index.bucket(hashes(i)), hashes(i))
      i += 1
    }
    fetched + pages.fetch(hashes, count)
  }
}
