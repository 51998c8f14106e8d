package io.holdfast.table

/** Rows of a number each, for suites that need many. */
object Keys {
  val bytes = 8

  def key(number: Long): Array[Byte] = {
    val bytes = new Array[Byte](Keys.bytes)
    Bytes.putInt(bytes, 0, number.toInt)
    Bytes.putInt(bytes, 4, (number >>> 32).toInt)
    bytes
  }

  def put(rows: Transaction, number: Long, valueBytes: Int, fill: Byte = 1): Unit = {
    val value = Array.fill(valueBytes)(fill)
    rows.put(key(number), 0, bytes, value, 0, valueBytes)
  }

  def remove(rows: Transaction, number: Long): Unit = rows.remove(key(number), 0, bytes)

  def has(rows: Rows, number: Long): Boolean = rows.find(key(number), 0, bytes) != Rows.Absent

  /** First byte of the value of a key. */
  def fill(rows: Rows, number: Long): Byte = {
    val row = rows.find(key(number), 0, bytes)
    rows.page(row)(RowRecord.valueOffset(rows.page(row), Rows.offset(row)))
  }

  /** Every key with the first byte of its value. */
  def content(rows: Rows): Map[Long, Byte] = {
    val cursor = rows.cursor()
    Iterator
      .continually(cursor.next())
      .takeWhile(identity)
      .map { _ =>
        Bytes.getLong(cursor.page, RowRecord.keyOffset(cursor.offset)) ->
          cursor.page(RowRecord.valueOffset(cursor.page, cursor.offset))
      }
      .toMap
  }

  /** The version that a change of another one makes. */
  def changed(version: Version)(change: Transaction => Unit): Version = {
    val rows = version.open()
    change(rows)
    rows.commit()
  }
}
