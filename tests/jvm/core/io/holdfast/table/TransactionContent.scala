package io.holdfast.table

/** What a version with several tables holds, in plain values. */
object TransactionContent {

  /** Number of the table, and the key there. */
  type Key = (Int, Vector[Byte])
  type Model = Map[Key, Vector[Byte]]

  def contentOf(cursor: RowCursor): Model = {
    val rows = Map.newBuilder[Key, Vector[Byte]]
    while (cursor.next()) {
      rows += keyAt(cursor.page, cursor.offset) -> valueAt(cursor.page, cursor.offset)
    }
    rows.result()
  }

  def keyAt(page: Array[Byte], offset: Int): Key = {
    val start = RowRecord.keyOffset(offset)
    RowRecord.table(page, offset) ->
      page.slice(start, start + RowRecord.keyLength(page, offset)).toVector
  }

  def valueAt(page: Array[Byte], offset: Int): Vector[Byte] = {
    val start = RowRecord.valueOffset(page, offset)
    page.slice(start, start + RowRecord.valueLength(page, offset)).toVector
  }
}
