package io.holdfast.table

import org.scalacheck.Gen

/** What a test does with a store with column families, by numbers of families and keys. */
object FamilyOperations {
  sealed trait Operation

  /** Defines a family, or the one that there is in another way: with rows only in its values. */
  final case class Define(family: Int, many: Boolean, keys: Int, values: Int) extends Operation
  final case class RemoveFamily(family: Int) extends Operation

  /** Removes all keys of a family, one by one. */
  final case class Empty(family: Int) extends Operation

  /** Replaces the values of a key, or adds to them where a key has several. */
  final case class Change(family: Int, key: Int, append: Boolean, count: Int, size: Int, fill: Byte)
      extends Operation

  /** Writes the values of a key again as they are. */
  final case class Rewrite(family: Int, key: Int) extends Operation
  final case class RemoveKey(family: Int, key: Int) extends Operation
  final case class Look(family: Int, key: Int, hold: Boolean) extends Operation

  /** Opens a walk over all rows of a family, to be gone through at the end. */
  final case class Walk(family: Int) extends Operation
  case object Commit extends Operation
  case object Abort extends Operation
  case object Reload extends Operation
  final case class Replay(deltas: Int) extends Operation

  def operations(keys: Int, length: Int, sizes: Seq[Int]): Gen[List[Operation]] = {
    val family = Gen.choose(0, 5)
    val key = Gen.choose(0, keys - 1)
    val flag = Gen.oneOf(true, false)
    val define =
      Gen
        .zip(family, flag, Gen.choose(0, orders.size), Gen.choose(0, 1))
        .map((Define.apply _).tupled)
    val operation = Gen.frequency[Operation](
      6 -> define,
      1 -> family.map(RemoveFamily(_)),
      2 -> family.map(Empty(_)),
      60 -> Gen
        .zip(family, key, flag, Gen.choose(0, 6), Gen.oneOf(sizes), Gen.choose[Byte](-128, 127))
        .map((Change.apply _).tupled),
      6 -> Gen.zip(family, key).map((Rewrite.apply _).tupled),
      15 -> Gen.zip(family, key).map((RemoveKey.apply _).tupled),
      4 -> Gen.zip(family, key, flag).map((Look.apply _).tupled),
      2 -> family.map(Walk(_)),
      3 -> Gen.const(Commit),
      1 -> Gen.const(Abort),
      1 -> Gen.const(Reload),
      1 -> Gen.choose(1, 5).map(Replay(_)))
    for {
      // So that most runs have something to change.
      first <- Gen.listOfN(4, define)
      count <- Gen.choose(1, length)
      rest <- Gen.listOfN(count, operation)
    } yield first ++ rest
  }

  // By the schema of keys: those of others are not scanned.
  private val orders =
    Map[String, RowOrder]("keys 1" -> new ByLastInt(1), "keys 2" -> new ByLastInt(-1))

  /** In which the keys of a family are scanned, if they are. */
  def order(family: Family): Option[RowOrder] = orders.get(family.keySchema)

  /** By a multiple of a number at the end of the key; several keys are alike. */
  private final class ByLastInt(times: Int) extends RowOrder with RowOrder.Encoder {
    override val words = 1
    override def newEncoder(): RowOrder.Encoder = this
    override def write(key: Array[Byte], offset: Int, length: Int, into: Array[Long]): Unit =
      into(0) = Bytes.getInt(key, offset + length - 4).toLong / 3 * times
  }
}
