package io.holdfast.table

import org.scalacheck.{Gen, Prop, Test}
import org.scalacheck.util.Pretty
import org.scalatest.funsuite.AnyFunSuite

/** Random operations on versions and transactions, compared with immutable maps. */
class TransactionModelSuite extends AnyFunSuite {
  import TransactionModelSuite._
  import TransactionOperations.{operations, Operation}

  private def check(
      name: String,
      operations: Gen[List[Operation]],
      runs: Int,
      order: Option[RowOrder] = None,
      keyOf: Int => Array[Byte] = mixedKey,
      tables: Int = 1,
      times: Seq[EventTime] = Nil): Unit =
    test(name) {
      val property = Prop.forAll(operations) { list =>
        new TransactionRun(order, number => keyOf(number / tables), tables, times)
          .violation(list) match {
          case None => Prop.passed
          case Some(problem) => Prop.falsified :| problem
        }
      }
      val result = Test.check(Test.Parameters.default.withMinSuccessfulTests(runs), property)
      assert(result.passed, Pretty.pretty(result))
    }

  check("few keys: overwrites, removals and retries of every kind", operations(keys = 12, 200), 400)

  check("many keys: splits, merges and relocation", operations(keys = 4000, 6000), 30)

  check(
    "rows of every size, some larger than a page",
    operations(keys = 60, 400, valueBytes = Gen.oneOf(0, 8, 16, 100, 4000, 40000, 300000)),
    30)

  check("few keys in an order", operations(keys = 12, 200, scans = true), 400, Some(ByGroup))

  check(
    "many keys in an order: nodes split, join and are shared",
    operations(keys = 4000, 6000, scans = true),
    30,
    Some(ByGroup))

  check("few keys in three tables", operations(keys = 12, 300), 300, tables = 3)

  check(
    "many keys in three tables, in an order: their rows share pages and move together",
    operations(keys = 4000, 6000, scans = true),
    20,
    Some(ByGroup),
    tables = 3)

  private val inKey = EventTime(inKey = true, EventTime.Column(1, 0))
  private val inValue = EventTime(inKey = false, EventTime.Column(2, 1), never = Some(-1L))
  private val inStruct =
    EventTime(inKey = false, EventTime.Column(1, 0), Some(EventTime.Column(1, 0)))

  // Of every second value of 24 bytes the time is null.
  private val orNull = inValue.copy(nullNever = true)

  private val timedValues = Gen.oneOf(0, 8, 24, 32)

  for ((place, times) <- Seq(
      "in keys" -> Seq(inKey),
      "in values" -> Seq(inValue),
      "in values, or never" -> Seq(orNull),
      "in structs" -> Seq(inStruct),
      "that lie here and there" -> Seq(inKey, inValue, orNull, inStruct))) {
    check(
      s"few keys with times $place",
      operations(keys = 12, 300, timedValues, evictions = true),
      300,
      times = times)

    check(
      s"many keys with times $place: pages are walked, emptied and moved",
      operations(keys = 3000, 5000, timedValues, evictions = true),
      20,
      times = times)
  }

  check(
    "many keys with times in three tables",
    operations(keys = 3000, 5000, timedValues, evictions = true),
    20,
    tables = 3,
    times = Seq(inValue))

  check(
    "rows of every size with times",
    operations(keys = 60, 400, Gen.oneOf(0, 24, 100, 4000, 40000, 300000), evictions = true),
    12,
    times = Seq(inValue))

  test("keys made to agree in their hash do") {
    val hashes = (0 until 80).map(agreeingKey).map(key => Bytes.hash(key, 0, key.length))
    assert(hashes.distinct.size === 10)
  }

  check(
    "keys that agree in hash, some of them in words too",
    operations(keys = 80, 300, scans = true),
    400,
    Some(ByParity),
    agreeingKey)
}

object TransactionModelSuite {

  /** Seven groups of keys, in each of which several have equal words. */
  private object ByGroup extends RowOrder with RowOrder.Encoder {
    override val words = 2

    override def newEncoder(): RowOrder.Encoder = this

    override def write(key: Array[Byte], offset: Int, length: Int, into: Array[Long]): Unit = {
      val number = if (length == 0) 0 else Bytes.getInt(key, offset + length - 4)
      // Half of the groups are above all positive numbers as unsigned words are compared.
      into(0) = (number % 7 - 3).toLong
      into(1) = (number / 50).toLong
    }
  }

  /** Every second key has the same words. */
  private object ByParity extends RowOrder with RowOrder.Encoder {
    override val words = 1

    override def newEncoder(): RowOrder.Encoder = this

    override def write(key: Array[Byte], offset: Int, length: Int, into: Array[Long]): Unit =
      into(0) = Bytes.getLong(key, offset) & 1
  }

  /** Keys of two longs, eight after eight of which have the same hash: the second long takes back
    * what the first one does to the hash.
    */
  private def agreeingKey(number: Int): Array[Byte] = {
    val multiplier = 0x9e3779b97f4a7c15L
    val first = (number % 8).toLong
    val mixed = (java.lang.Long.rotateLeft(16 * multiplier, 29) ^ first) * multiplier
    val second = java.lang.Long.rotateLeft(mixed ^ (mixed >>> 32), 29) ^ (number / 8).toLong
    val bytes = new Array[Byte](16)
    java.nio.ByteBuffer
      .wrap(bytes)
      .order(java.nio.ByteOrder.LITTLE_ENDIAN)
      .putLong(first)
      .putLong(second)
    bytes
  }

  /** Key `number` as bytes: of several lengths, so that lengths take part in equality. */
  private def mixedKey(number: Int): Array[Byte] = {
    val bytes = new Array[Byte](number % 3 * 8 + (if (number == 0) 0 else 8))
    if (bytes.nonEmpty) Bytes.putInt(bytes, bytes.length - 4, number)
    bytes
  }
}
