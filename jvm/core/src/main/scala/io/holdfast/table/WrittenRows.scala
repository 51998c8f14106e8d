package io.holdfast.table

/** Rows that a transaction has written one behind the other into a page, to which it writes no more.
  *
  * @param page
  *   the page
  * @param start
  *   where in it the first row begins, in bytes
  * @param end
  *   where the last one ends
  */
final class WrittenRows private[table] (page: Array[Byte], start: Int, end: Int) {

  /** Bytes of all rows, also of those that were replaced or removed since. */
  def bytes: Int = end - start

  /** Tells a visitor the rows that are current. Any thread may call that sees what was written; what
    * the visitor throws passes through. Of a row that the transaction replaces or removes meanwhile
    * nobody knows whether it is told.
    */
  def foreach(visitor: ChangeVisitor): Unit = {
    var offset = start
    while (offset < end) {
      if (!RowRecord.hasFlag(page, offset, RowRecord.Superseded)) visitor.put(page, offset)
      offset += RowRecord.sizeAt(page, offset)
    }
  }
}
