package io.holdfast.file

import io.holdfast.table.Transaction

/** Brings the records of a file into a transaction. For the transaction's thread. */
object Replay {

  /** Looks at a row that a file holds before it is believed.
    *
    * Called once for each file, with the first row that is put: the bytes are good for the duration
    * of the call. It throws what is to be thrown if the row does not fit the store.
    */
  trait RowCheck {
    def apply(
        bytes: Array[Byte],
        keyOffset: Int,
        keyLength: Int,
        valueOffset: Int,
        valueLength: Int): Unit
  }

  /** Applies all records in order.
    *
    * @param rowChecksums
    *   whether rows are kept with their checksum behind the value
    * @return
    *   number of records
    * @throws StateFileException
    *   if the file cannot be read to its end marker
    */
  def into(
      rows: Transaction,
      reader: RecordReader,
      rowChecksums: Boolean,
      checkFirst: RowCheck): Long = {
    val trailed = new TrailedValue
    var records = 0L
    var checked = false
    while (reader.next()) {
      val bytes = reader.bytes
      if (reader.isRemoval) {
        rows.remove(bytes, reader.keyOffset, reader.keyLength)
      } else {
        if (!checked) {
          checkFirst(
            bytes,
            reader.keyOffset,
            reader.keyLength,
            reader.valueOffset,
            reader.valueLength)
          checked = true
        }
        if (rowChecksums) {
          val length =
            trailed.set(bytes, reader.valueOffset, reader.valueLength, reader.checksum)
          rows.put(bytes, reader.keyOffset, reader.keyLength, trailed.bytes, 0, length)
        } else {
          rows.put(
            bytes,
            reader.keyOffset,
            reader.keyLength,
            bytes,
            reader.valueOffset,
            reader.valueLength)
        }
      }
      records += 1
    }
    records
  }
}
