package io.holdfast.rows

import org.apache.spark.sql.types.StructType

import io.holdfast.table.RowOrder

/** Rows with the same columns but the last, which is a time, are neighbours in the order of their times:
  * for scans of the times of a prefix. Among prefixes there is no order, so the first word is a hash.
  */
private[holdfast] final class TimesOfPrefixOrder(schema: StructType) extends ScanOrder {
  override val words = 2

  /** Number of columns of a prefix. */
  val count: Int = schema.length - 1

  val columns = new PrefixColumns(schema, count)

  // Behind the bits of nulls.
  private val timeOffset = 8 * ((schema.length + 63) / 64 + count)

  private val encoder: RowOrder.Encoder = (key, keyOffset, _, into) => {
    into(0) = columns.hash(key, keyOffset, schema.length)
    into(1) = RowOrder.long(key, keyOffset + timeOffset) ^ Long.MinValue
  }

  override def newEncoder(): RowOrder.Encoder = encoder

  /** Gives the prefixes of keys as bytes. For one thread. */
  def newPrefixes(): TieBreaker = new TieBreaker(schema, 0 until count)
}
