package io.holdfast.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.StructType

import io.holdfast.table.RowOrder

/** The leading columns of keys, hashed and compared where they lie in the bytes of an `UnsafeRow`: to
  * take them out as a row would need a projection, which takes longer to make than a scan of a few
  * rows lasts.
  *
  * A row has a bit for each null column, rounded up to words, then a word for each column: the value,
  * or the offset and length of its bytes (`UnsafeRow`, Spark 4.2). Any thread may call; rows whose
  * offsets point outside their array give an `IndexOutOfBoundsException`.
  */
private[holdfast] final class PrefixColumns(schema: StructType, count: Int) {
  private[this] val isFixedLength: Array[Boolean] =
    schema.take(count).map(field => UnsafeRow.isFixedLength(field.dataType)).toArray

  /** A hash of the leading columns.
    *
    * @param fields
    *   number of columns of the row
    */
  def hash(row: Array[Byte], offset: Int, fields: Int): Long = {
    var hash = 0L
    var i = 0
    while (i < count) {
      hash = RowOrder.combine(hash, columnHash(row, offset, fields, i))
      i += 1
    }
    hash
  }

  /** Whether two rows agree in the leading columns. */
  def equal(
      left: Array[Byte],
      leftOffset: Int,
      leftFields: Int,
      right: Array[Byte],
      rightOffset: Int,
      rightFields: Int): Boolean = {
    var i = 0
    while (i < count) {
      val nulls = isNull(left, leftOffset, i)
      if (nulls != isNull(right, rightOffset, i)) return false
      if (!nulls) {
        val leftWord = word(left, leftOffset, leftFields, i)
        val rightWord = word(right, rightOffset, rightFields, i)
        val same =
          if (isFixedLength(i)) leftWord == rightWord
          else
            leftWord.toInt == rightWord.toInt && RowOrder.equal(
              left,
              leftOffset + (leftWord >>> 32).toInt,
              right,
              rightOffset + (rightWord >>> 32).toInt,
              leftWord.toInt)
        if (!same) return false
      }
      i += 1
    }
    true
  }

  private[this] def columnHash(row: Array[Byte], offset: Int, fields: Int, column: Int): Long =
    if (isNull(row, offset, column)) PrefixColumns.NullHash
    else {
      val value = word(row, offset, fields, column)
      if (isFixedLength(column)) value
      else RowOrder.hash(row, offset + (value >>> 32).toInt, value.toInt)
    }

  private[this] def isNull(row: Array[Byte], offset: Int, column: Int): Boolean =
    (RowOrder.long(row, offset + 8 * (column >> 6)) >>> (column & 63) & 1L) != 0

  private[this] def word(row: Array[Byte], offset: Int, fields: Int, column: Int): Long =
    RowOrder.long(row, offset + 8 * ((fields + 63) / 64 + column))
}

private object PrefixColumns {

  // Any number will do: equal hashes only make neighbours of rows that are then told apart.
  private val NullHash = 0x5bd1e9955bd1e995L
}
