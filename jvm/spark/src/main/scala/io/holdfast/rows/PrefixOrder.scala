package io.holdfast.rows

import org.apache.spark.sql.types.StructType

import io.holdfast.table.RowOrder

/** Rows with the same leading key columns are neighbours: for prefix scans, which promise no order
  * among prefixes, so the one word is a hash of the prefix.
  *
  * @param count
  *   number of leading columns
  */
private[holdfast] final class PrefixOrder(schema: StructType, val count: Int) extends ScanOrder {
  override val words = 1

  val columns = new PrefixColumns(schema, count)

  private val encoder: RowOrder.Encoder = (key, keyOffset, _, into) =>
    into(0) = columns.hash(key, keyOffset, schema.length)

  override def newEncoder(): RowOrder.Encoder = encoder
}
