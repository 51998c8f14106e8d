package io.holdfast.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

import io.holdfast.table.RowOrder

/** How the rows of a store can be scanned, as its operator asks for it. */
private[holdfast] trait ScanOrder extends RowOrder

private[holdfast] object ScanOrder {
  def pointAt(row: UnsafeRow, bytes: Array[Byte], offset: Int, length: Int): Unit =
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + offset, length)

  /** Compares unsigned bytes; those that others begin with come first. */
  def compare(left: Array[Byte], right: Array[Byte]): Int = {
    val length = math.min(left.length, right.length)
    var i = 0
    while (i < length && left(i) == right(i)) i += 1
    if (i < length) (left(i) & 0xff) - (right(i) & 0xff) else left.length - right.length
  }
}
