package io.holdfast.rows

import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec,
  TimestampAsPostfixKeyStateEncoderSpec,
  TimestampAsPrefixKeyStateEncoderSpec
}
import org.apache.spark.sql.types.StructType

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

  /** The schema of whole keys. An encoder of keys with a time knows it; the operator may say beside it
    * what keys are without their time (`SymmetricHashJoinStateManagerV4`, Spark 4.2).
    */
  def keySchema(said: StructType, encoder: KeyStateEncoderSpec): StructType = encoder match {
    case TimestampAsPrefixKeyStateEncoderSpec(schema) => schema
    case TimestampAsPostfixKeyStateEncoderSpec(schema) => schema
    case _ => said
  }
}
