package io.holdfast.sim.world

import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec,
  TimestampAsPostfixKeyStateEncoderSpec,
  TimestampAsPrefixKeyStateEncoderSpec
}
import org.apache.spark.sql.types.StructType

/** How the keys of a column family can be scanned. Their ids are times where they are in order.
  *
  * @param hasGroups
  *   whether the rows of a group are found by the prefix of their keys, and lie beside each other
  * @param inOrder
  *   whether all rows are in the order of their times
  * @param hasRanges
  *   whether rows are found by ranges of times
  */
sealed abstract class Scan(
    val encoder: KeyStateEncoderSpec,
    val hasGroups: Boolean = false,
    val inOrder: Boolean = false,
    val hasRanges: Boolean = false) {

  /** What an operator says that keys are: nothing of a time that the encoder knows of. */
  def saidKeySchema: StructType = Rows.keySchema
}

object Scan {

  /** By whole keys alone. */
  case object Keys extends Scan(NoPrefixKeyStateEncoderSpec(Rows.keySchema))

  case object Groups
      extends Scan(PrefixKeyScanStateEncoderSpec(Rows.keySchema, 1), hasGroups = true)

  case object Times
      extends Scan(
        RangeKeyScanStateEncoderSpec(Rows.keySchema, Seq(1)),
        inOrder = true,
        hasRanges = true)

  /** As the indexes of joins are. */
  case object TimesFirst
      extends Scan(
        TimestampAsPrefixKeyStateEncoderSpec(Rows.keySchema),
        inOrder = true,
        hasRanges = true) {
    override def saidKeySchema: StructType = StructType(Rows.keySchema.dropRight(1))
  }

  /** As the rows of joins are: those of a group in the order of their times. */
  case object GroupTimes
      extends Scan(
        TimestampAsPostfixKeyStateEncoderSpec(Rows.keySchema),
        hasGroups = true,
        hasRanges = true) {
    override def saidKeySchema: StructType = StructType(Rows.keySchema.dropRight(1))
  }

  // Each of them asks this object for what it leaves out, so they cannot be made with it.
  lazy val all: Vector[Scan] = Vector(Keys, Groups, Times, TimesFirst, GroupTimes)
}

/** How an operator defines a column family.
  *
  * @param lists
  *   whether a key has several values
  * @param wide
  *   whether values have a column more
  */
final case class FamilyKind(scan: Scan, lists: Boolean, wide: Boolean = false) {

  def valueSchema: StructType = if (wide) Rows.wideValueSchema else Rows.valueSchema

  /** Whether a family with rows can be defined like this.
    *
    * @param evolves
    *   whether values may get other columns
    */
  def takes(before: FamilyKind, evolves: Boolean): Boolean =
    scan == before.scan && lists == before.lists && (wide == before.wide || evolves)
}

object FamilyKind {

  def any(random: SimRandom): FamilyKind =
    FamilyKind(random.oneOf(Scan.all), lists = random.chance(0.5), wide = random.chance(0.3))
}
