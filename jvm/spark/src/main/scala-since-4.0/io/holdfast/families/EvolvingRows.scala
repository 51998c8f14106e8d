package io.holdfast.families

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.Platform

import io.holdfast.rows.RowFormat

/** Rows out of bytes of a column family, with values of the schema that they are read by. For one thread.
  *
  * @param format
  *   of the bytes
  * @param read
  *   the schema that values are read by
  * @param until
  *   the batch from which on there are none of this format, if there is one
  * @param evolution
  *   what makes values of that schema out of those that were written, if they are others
  */
final private[holdfast] class EvolvingRows(
    format: RowFormat,
    read: StructType,
    until: Option[Long],
    evolution: Option[UnsafeRow => UnsafeRow]) {

  /** @return
    *   a row over the bytes
    */
  def key(bytes: Array[Byte]): UnsafeRow =
    row(format.keySchema.length, bytes, 0, bytes.length)

  /** @return
    *   a row that stays as it is for as long as the bytes do
    * @throws java.lang.IllegalStateException
    *   if no value of the schema can be made of it
    */
  def value(bytes: Array[Byte], offset: Int, length: Int): UnsafeRow = {
    val written = row(format.valueSchema.length, bytes, offset, length)
    evolution.fold(written)(evolved(_, written).copy())
  }

  private def evolved(evolution: UnsafeRow => UnsafeRow, written: UnsafeRow): UnsafeRow =
    try evolution(written)
    catch {
      case NonFatal(e) =>
        val start = until.fold("")(batch => s". Set changeStartBatchId to $batch or later")
        throw new IllegalStateException(
          s"the change feed of ${format.store} cannot show values that were written as " +
            s"${format.valueSchema.simpleString} as ${read.simpleString}, by which it is read: " +
            s"${e.getMessage}$start",
          e)
    }

  private def row(fields: Int, bytes: Array[Byte], offset: Int, length: Int): UnsafeRow = {
    val row = new UnsafeRow(fields)
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET.toLong + offset, length)
    row
  }
}
