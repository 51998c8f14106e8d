package io.holdfast.rows

import io.holdfast.file.RowChecksum
import io.holdfast.table.RowRecord

/** Holds rows in memory against the checksums that they were put with. Any thread may call. */
private[holdfast] object RowVerification {

  /** @param offset
    *   where the record of the row begins in its page
    * @param store
    *   the store in messages
    * @throws org.apache.spark.SparkException
    *   of class STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED if the row is not as it was put
    */
  def verify(page: Array[Byte], offset: Int, store: String): Unit = {
    val valueOffset = RowRecord.valueOffset(page, offset)
    val length = RowRecord.valueLength(page, offset) - RowChecksum.TrailerBytes
    val expected = RowChecksum.get(page, valueOffset + length)
    val computed = RowChecksum.of(
      page,
      RowRecord.keyOffset(offset),
      RowRecord.keyLength(page, offset),
      page,
      valueOffset,
      length)
    if (expected != computed) {
      throw RowChecksums.failed(store, expected, computed)
    }
  }
}
