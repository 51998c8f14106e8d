package io.holdfast.families

import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec,
  ReadStateStore,
  StateStore
}

import io.holdfast.testkit.TestRows

/** A column family as tests make them: how its keys are scanned, and whether they have lists. */
sealed abstract class FamilyKind(
    val name: String,
    val encoder: KeyStateEncoderSpec,
    val hasLists: Boolean) {

  def create(store: StateStore): Unit =
    store.createColFamilyIfAbsent(
      name,
      FamilyRows.keySchema,
      TestRows.valueSchema,
      encoder,
      hasLists,
      isInternal = name.startsWith("$"))

  def isRange: Boolean = encoder.isInstanceOf[RangeKeyScanStateEncoderSpec]

  def isScanned: Boolean = !encoder.isInstanceOf[NoPrefixKeyStateEncoderSpec]

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

  val all: Seq[FamilyKind] = Seq(Plain, Lists, Prefix, PrefixLists, Range, RangeLists)

}
