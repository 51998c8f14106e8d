package io.holdfast.bench

import org.apache.spark.sql.catalyst.expressions.{SpecificInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{LongType, StructField, StructType}

/** Rows of so many longs. The row object is reused from call to call. For one thread. */
final class LongRows(columns: Int) {
  val schema: StructType = StructType((1 to columns).map(i => StructField(s"column$i", LongType)))

  private val projection = UnsafeProjection.create(schema)
  private val row = new SpecificInternalRow(schema)

  def apply(one: Long): UnsafeRow = {
    row.setLong(0, one)
    projection(row)
  }

  def apply(one: Long, two: Long): UnsafeRow = {
    row.setLong(1, two)
    apply(one)
  }
}

object LongRows {

  /** Scatters numbers, so that neighbours in a loop are no neighbours in a store. */
  def scattered(number: Long): Long = number * 0x9e3779b97f4a7c15L
}
