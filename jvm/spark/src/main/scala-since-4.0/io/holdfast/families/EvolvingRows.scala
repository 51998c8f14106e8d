package io.holdfast.families

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.holdfast.ValueEvolution
import org.apache.spark.unsafe.Platform

import io.holdfast.rows.RowFormat

/** Rows out of bytes of a column family, with values of the schema that it has later. For one thread.
  *
  * @param format
  *   of the bytes
  * @param evolution
  *   what makes later values out of them, if those are others
  */
final private[holdfast] class EvolvingRows(format: RowFormat, evolution: Option[ValueEvolution]) {

  /** @return
    *   a row over the bytes
    */
  def key(bytes: Array[Byte]): UnsafeRow =
    row(format.keySchema.length, bytes, 0, bytes.length)

  /** @return
    *   a row that stays as it is for as long as the bytes do
    */
  def value(bytes: Array[Byte], offset: Int, length: Int): UnsafeRow = {
    val written = row(format.valueSchema.length, bytes, offset, length)
    evolution.fold(written)(_(written).copy())
  }

  private def row(fields: Int, bytes: Array[Byte], offset: Int, length: Int): UnsafeRow = {
    val row = new UnsafeRow(fields)
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + offset, length)
    row
  }
}
