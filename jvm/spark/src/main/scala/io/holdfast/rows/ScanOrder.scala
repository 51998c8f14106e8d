package io.holdfast.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec
}
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
    case other => throw Unsupported.unsupported(other.getClass.getSimpleName)
  }

  def pointAt(row: UnsafeRow, bytes: Array[Byte], offset: Int, length: Int): Unit =
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + offset, length)
}
