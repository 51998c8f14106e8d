package io.holdfast

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec
}
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.Platform

import io.holdfast.table.RowOrder

/** How the rows of a store can be scanned, as the operator's key encoder asks for it. */
private[holdfast] trait ScanOrder extends RowOrder

private[holdfast] object ScanOrder {

  /** The order for an encoder, or nothing for a store that is not scanned.
    *
    * @throws org.apache.spark.sql.execution.streaming.state.StateStoreUnsupportedOperationException
    *   if the encoder is of a kind that Holdfast does not support
    */
  def of(encoder: KeyStateEncoderSpec): Option[ScanOrder] = encoder match {
    case _: NoPrefixKeyStateEncoderSpec => None
    case PrefixKeyScanStateEncoderSpec(schema, columns) => Some(new PrefixOrder(schema, columns))
    case RangeKeyScanStateEncoderSpec(schema, ordinals) => Some(new RangeOrder(schema, ordinals))
    case other => throw RowAccess.unsupported(other.getClass.getSimpleName)
  }

  def pointAt(row: UnsafeRow, bytes: Array[Byte], offset: Int, length: Int): Unit =
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + offset, length)
}

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
