package io.holdfast.table

import org.scalacheck.Gen

/** What a test does with versions and transactions, by numbers of keys and times. */
object TransactionOperations {
  sealed trait Operation
  final case class Open(version: Int) extends Operation
  final case class Put(key: Int, size: Int, fill: Byte) extends Operation
  final case class Remove(key: Int) extends Operation
  final case class RemoveAll(every: Int) extends Operation
  final case class Find(key: Int) extends Operation
  final case class FindAll(butEvery: Int) extends Operation
  case object Iterate extends Operation
  final case class Scan(from: Option[Int], until: Option[Int]) extends Operation
  case object Commit extends Operation
  case object Compact extends Operation

  /** Gives back what the transaction has replaced of its own rows, as a long one does. */
  case object Reclaim extends Operation
  final case class CloseSome(every: Int) extends Operation

  /** Removes rows up to a time, all but some, and puts some new ones meanwhile. */
  final case class Evict(time: Int, upTo: Byte, butEvery: Int, putEvery: Int) extends Operation

  /** Opens a walk up to a time, to be read later. */
  final case class IterateUpTo(time: Int, upTo: Byte) extends Operation

  /** Puts the same key again and again until the memory for it is refused. */
  final case class Fail(at: Int, key: Int) extends Operation
  case object Abort extends Operation

  def operations(
      keys: Int,
      length: Int,
      valueBytes: Gen[Int] = Gen.oneOf(0, 8, 24),
      scans: Boolean = false,
      evictions: Boolean = false): Gen[List[Operation]] = {
    val key = Gen.choose(0, keys - 1)
    val time = Gen.choose[Byte](-128, 127)
    val operation = Gen.frequency[Operation](
      60 -> Gen.zip(key, valueBytes, Gen.choose[Byte](-128, 127)).map((Put.apply _).tupled),
      25 -> key.map(Remove(_)),
      // Rare, since a look makes the transaction apply what it has collected.
      5 -> key.map(Find(_)),
      2 -> Gen.choose(0, 5).map(Open(_)),
      2 -> Gen.const(Iterate),
      2 -> Gen.choose(2, 20).map(FindAll(_)),
      (if (scans) 3 else 0) -> Gen.zip(Gen.option(key), Gen.option(key)).map((Scan.apply _).tupled),
      2 -> Gen.const(Commit),
      1 -> Gen.const(Compact),
      2 -> Gen.const(Reclaim),
      1 -> Gen.choose(1, 4).map(CloseSome(_)),
      1 -> Gen.zip(Gen.choose(1, 30), key).map((Fail.apply _).tupled),
      1 -> Gen.const(Abort),
      (if (evictions) 3 else 0) ->
        Gen
          .zip(Gen.choose(0, 9), time, Gen.choose(1, 50), Gen.choose(1, 50))
          .map((Evict.apply _).tupled),
      (if (evictions) 1 else 0) ->
        Gen.zip(Gen.choose(0, 9), time).map((IterateUpTo.apply _).tupled),
      1 -> Gen.choose(1, 4).map(RemoveAll(_)))
    Gen.choose(1, length).flatMap(Gen.listOfN(_, operation))
  }

  /** Bytes that are no row, or one with a time that the last parameter gives. */
  def valueOf(size: Int, fill: Byte): Array[Byte] = {
    val value = Array.fill[Byte](size)(fill)
    if (size >= 24) {
      // As two columns, null if the number is odd and the time else; as one, a struct behind it.
      val buffer = java.nio.ByteBuffer.wrap(value).order(java.nio.ByteOrder.nativeOrder())
      buffer.putLong(0, (fill & 1).toLong << 1)
      if (size >= 32) buffer.putLong(8, 16L << 32 | 16L)
      buffer.putLong(16, if (size >= 32) 0L else timeOf(fill))
      if (size >= 32) buffer.putLong(24, timeOf(fill))
    }
    value
  }

  def timeOf(number: Byte): Long = if (number == 0) -1L else number * 1000000L
}
