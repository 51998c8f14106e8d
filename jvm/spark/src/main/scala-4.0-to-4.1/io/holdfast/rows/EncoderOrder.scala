package io.holdfast.rows

import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec
}
import org.apache.spark.sql.types.StructType

/** How an operator says that it scans its store, from Spark 4.0 on: by the encoder of its keys. */
private[holdfast] object EncoderOrder {

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

  /** The schema of whole keys: what the operator says it is. */
  def keySchema(said: StructType, encoder: KeyStateEncoderSpec): StructType = {
    val _ = encoder
    said
  }
}
