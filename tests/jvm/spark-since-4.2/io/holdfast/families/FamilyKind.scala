package io.holdfast.families

import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec,
  ReadStateStore,
  StateStore,
  TimestampAsPostfixKeyStateEncoderSpec,
  TimestampAsPrefixKeyStateEncoderSpec
}
import org.apache.spark.sql.types.StructType

import io.holdfast.testkit.TestRows

/** A column family as tests make them: how its keys are scanned, and whether they have lists. */
sealed abstract class FamilyKind(
    val name: String,
    val encoder: KeyStateEncoderSpec,
    val hasLists: Boolean) {

  def create(store: StateStore): Unit =
    store.createColFamilyIfAbsent(
      name,
      saidKeySchema,
      TestRows.valueSchema,
      encoder,
      hasLists,
      isInternal = name.startsWith("$"))

  // Joins say what keys are without the time that the encoder adds.
  private def saidKeySchema: StructType =
    if (isInOrder && !isRange || hasGroupsInOrder) StructType(FamilyRows.keySchema.dropRight(1))
    else FamilyRows.keySchema

  /** Whether its rows are in the order of their times. */
  def isInOrder: Boolean = isRange || encoder.isInstanceOf[TimestampAsPrefixKeyStateEncoderSpec]

  def isRange: Boolean = encoder.isInstanceOf[RangeKeyScanStateEncoderSpec]

  /** Whether the rows of a group are in the order of their times. */
  def hasGroupsInOrder: Boolean = encoder.isInstanceOf[TimestampAsPostfixKeyStateEncoderSpec]

  def hasPrefixes: Boolean =
    isRange || hasGroupsInOrder || encoder.isInstanceOf[PrefixKeyScanStateEncoderSpec]

  /** All rows, those of lists as often as there are values. */
  def rows(store: ReadStateStore): Seq[FamilyRows.Pair] =
    FamilyRows.pairs(if (hasLists) store.iteratorWithMultiValues(name) else store.iterator(name))
}

object FamilyKind {
  private val schema = FamilyRows.keySchema

  case object Plain extends FamilyKind("plain", NoPrefixKeyStateEncoderSpec(schema), false)
  case object Lists extends FamilyKind("lists", NoPrefixKeyStateEncoderSpec(schema), true)
  case object Prefix extends FamilyKind("prefix", PrefixKeyScanStateEncoderSpec(schema, 1), false)
  case object PrefixLists
      extends FamilyKind("prefixLists", PrefixKeyScanStateEncoderSpec(schema, 1), true)
  case object Range
      extends FamilyKind("$range", RangeKeyScanStateEncoderSpec(schema, Seq(1)), false)
  case object RangeLists
      extends FamilyKind("rangeLists", RangeKeyScanStateEncoderSpec(schema, Seq(1)), true)

  case object TimeFirst
      extends FamilyKind("timeFirst", TimestampAsPrefixKeyStateEncoderSpec(schema), false)
  case object TimeLast
      extends FamilyKind("timeLast", TimestampAsPostfixKeyStateEncoderSpec(schema), true)

  /** The one that every store has; its keys are those of [[TestRows]]. */
  case object Default
      extends FamilyKind("default", NoPrefixKeyStateEncoderSpec(TestRows.keySchema), false)

  /** Those that operators make. Later than they are made themselves, each of which needs this object. */
  lazy val all: Seq[FamilyKind] =
    Seq(Plain, Lists, Prefix, PrefixLists, Range, RangeLists, TimeFirst, TimeLast)
}
