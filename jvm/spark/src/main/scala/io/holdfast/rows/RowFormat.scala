package io.holdfast.rows

import org.apache.spark.sql.types.StructType

import io.holdfast.file.RowChecksum

/** What the rows of a store look like and how they can be scanned.
  *
  * @param store
  *   the store in messages
  * @param order
  *   the order of scans, or nothing for a store that is not scanned
  * @param checksums
  *   whether values end with the checksum of their row
  *   (`spark.sql.streaming.stateStore.rowChecksum.enabled`, Spark 4.2)
  * @param verifyEvery
  *   verifies the checksum of every so many rows that are read; 0 for none
  * @param walksInOrder
  *   whether a walk over all rows goes in the order of scans, as it does in one of ranges in any case
  */
final private[holdfast] case class RowFormat(
    store: String,
    keySchema: StructType,
    valueSchema: StructType,
    order: Option[ScanOrder],
    checksums: Boolean,
    verifyEvery: Long,
    walksInOrder: Boolean = false) {

  /** Bytes of a value that are not the operator's. */
  def trailerBytes: Int = if (checksums) RowChecksum.TrailerBytes else 0
}
