package io.holdfast.rows

import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec,
  TimestampAsPostfixKeyStateEncoderSpec,
  TimestampAsPrefixKeyStateEncoderSpec
}

/** How an operator says that it scans its store, as Spark has it from 4.2 on: by the encoder of its keys. */
private[holdfast] object EncoderOrder {

  /** The order for an encoder, or nothing for a store that is not scanned. */
  def of(encoder: KeyStateEncoderSpec): Option[ScanOrder] = encoder match {
    case _: NoPrefixKeyStateEncoderSpec => None
    case PrefixKeyScanStateEncoderSpec(schema, columns) => Some(new PrefixOrder(schema, columns))
    case RangeKeyScanStateEncoderSpec(schema, ordinals) => Some(new RangeOrder(schema, ordinals))
    // The last column of both is the time.
    case TimestampAsPrefixKeyStateEncoderSpec(schema) =>
      Some(new RangeOrder(schema, Seq(schema.length - 1)))
    case TimestampAsPostfixKeyStateEncoderSpec(schema) => Some(new TimesOfPrefixOrder(schema))
  }
}
