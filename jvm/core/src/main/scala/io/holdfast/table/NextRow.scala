package io.holdfast.table

/** Finds a row without the index when it lies right behind the row that was found before it.
  *
  * Operators that keep one row for a key in each of two stores (stream-stream joins: how many values
  * a key has, and the values) put them at the same time and later look for the rows of one store in
  * the order of the other, millions at a time. Then the next row is the next record, and a search in
  * the index would wait for memory only to learn that.
  *
  * A record is known to be a row when all records of its page are, and it may be one of another table.
  * Nothing is looked at before two rows in a row were found like that, so other searches pay one
  * comparison. For one thread.
  *
  * @param number
  *   of the table whose rows are looked for
  */
private[table] final class NextRow(number: Int, pages: RowPagesWriter) {
  private[this] var inOrder = false
  // Where the record behind the row that was found last begins.
  private[this] var id = 0
  private[this] var offset = 0

  /** The next row, if it has this key, or [[Rows.Absent]]. */
  def find(key: Array[Byte], keyOffset: Int, keyLength: Int): Long =
    if (inOrder && offset < pages.table.endOfRows(id) &&
      RowRecord.hasKey(pages.page(id), offset, key, keyOffset, keyLength) &&
      RowRecord.table(pages.page(id), offset) == number) {
      val row = Slot(0L, id, offset)
      offset += RowRecord.sizeAt(pages.page(id), offset)
      row
    } else Rows.Absent

  /** Takes notice of a row that the index has found. */
  def found(row: Long): Unit = {
    inOrder = Slot.page(row) == id && Slot.offset(row) == offset
    id = Slot.page(row)
    offset = Slot.offset(row) + RowRecord.sizeAt(pages.page(id), Slot.offset(row))
  }

  /** Is to be called before the id of a page may become that of another one. */
  def forget(): Unit = inOrder = false
}
