package io.holdfast.rows

import io.holdfast.table.RowCursor

/** Shows the rows of a cursor and holds each against its checksum, so that none that was damaged in
  * memory gets into a file. For one thread.
  *
  * @param store
  *   the store in messages
  */
final private[holdfast] class VerifyingCursor(rows: RowCursor, store: String) extends RowCursor {

  /** @throws org.apache.spark.SparkException
    *   of class STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED if a row is not as it was put
    */
  override def next(): Boolean = {
    val found = rows.next()
    if (found) RowVerification.verify(page, offset, store)
    found
  }

  override def page: Array[Byte] = rows.page

  override def offset: Int = rows.offset

  override def close(): Unit = rows.close()
}
