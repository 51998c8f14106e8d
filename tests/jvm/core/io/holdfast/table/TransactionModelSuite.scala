package io.holdfast.table

import scala.collection.mutable

import org.scalacheck.{Gen, Prop, Test}
import org.scalacheck.util.Pretty
import org.scalatest.funsuite.AnyFunSuite

/** Random operations on versions and transactions, compared with immutable maps. */
class TransactionModelSuite extends AnyFunSuite {
  import TransactionModelSuite._

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
        new Run(order, number => keyOf(number / tables), tables, times).violation(list) match {
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

  /** Number of the table, and the key there. */
  type Key = (Int, Vector[Byte])
  type Model = Map[Key, Vector[Byte]]

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

  /** Key `number` as bytes: of several lengths, so that lengths take part in equality. */
  private def mixedKey(number: Int): Array[Byte] = {
    val bytes = new Array[Byte](number % 3 * 8 + (if (number == 0) 0 else 8))
    if (bytes.nonEmpty) Bytes.putInt(bytes, bytes.length - 4, number)
    bytes
  }

  /** Bytes that are no row, or one with a time that the last parameter gives. */
  private def valueOf(size: Int, fill: Byte): Array[Byte] = {
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

  private def timeOf(number: Byte): Long = if (number == 0) -1L else number * 1000000L

  /** A walk that is not at its end, which has to show some rows and may show others. */
  private final case class HeldCursor(cursor: RowCursor, least: Model, most: Model)

  /** What a transaction gave out as its changes, and what it made of what. */
  private final case class Told(
      changes: Changes,
      count: Long,
      base: Model,
      result: Model,
      early: Vector[Record])

  /** A key with its new value, or none if it was removed. */
  private type Record = (Key, Option[Vector[Byte]])

  private final class Recording extends ChangeVisitor {
    var records: Vector[Record] = Vector.empty

    override def put(page: Array[Byte], offset: Int): Unit =
      records :+= keyAt(page, offset) -> Some(valueAt(page, offset))

    override def remove(page: Array[Byte], offset: Int): Unit =
      records :+= keyAt(page, offset) -> None
  }

  /** What a transaction told before its changes were asked for, as it was then. */
  private final class Early extends EarlyRows {
    private val recording = new Recording
    private var isVoid = false

    def records: Vector[Record] = if (isVoid) Vector.empty else recording.records

    override def filled(rows: WrittenRows): Unit = {
      assert(!isVoid, "rows were told early after what was told was void")
      rows.foreach(recording)
    }

    override def void(): Unit = {
      assert(!isVoid, "what was told early was void twice")
      isVoid = true
    }
  }

  private def keyAt(page: Array[Byte], offset: Int): Key = {
    val start = RowRecord.keyOffset(offset)
    RowRecord.table(page, offset) ->
      page.slice(start, start + RowRecord.keyLength(page, offset)).toVector
  }

  private def valueAt(page: Array[Byte], offset: Int): Vector[Byte] = {
    val start = RowRecord.valueOffset(page, offset)
    page.slice(start, start + RowRecord.valueLength(page, offset)).toVector
  }

  private final class Run(
      order: Option[RowOrder],
      keyOf: Int => Array[Byte],
      tables: Int,
      times: Seq[EventTime]) {
    private val versions = mutable.ArrayBuffer[(Version, Model)](Version.empty(order) -> Map.empty)
    private val cursors = mutable.ArrayBuffer[HeldCursor]()
    private val told = mutable.ArrayBuffer[Told]()
    private var base: Model = Map.empty
    private var model: Model = Map.empty
    private var baseVersion = versions(0)._1
    private var early = new Early
    private var transaction: Transaction = baseVersion.open(early = Some(early))
    private var compacted = false
    private var opened = 0

    private def tableOf(number: Int): Int = number % tables

    private def rowsOf(table: Int): TableWriter = transaction.table(table, order)

    private def time(number: Int): EventTime = times(number % times.size)

    private def modelUpTo(content: Model, table: Int, time: EventTime, upTo: Long): Model =
      content.filter { case ((number, key), value) =>
        number == table &&
        time.read(key.toArray, 0, key.size, value.toArray, 0, value.size) <= upTo
      }

    private def modelKey(number: Int): Key = tableOf(number) -> keyOf(number).toVector

    private def modelOf(table: Int): Model = model.filter(_._1._1 == table)

    def violation(operations: List[Operation]): Option[String] = {
      val during = operations.iterator.zipWithIndex
        .flatMap { case (operation, at) =>
          step(operation).map(problem => s"operation $at ($operation): $problem")
        }
        .nextOption()
      during
        .orElse(step(Commit))
        .orElse(heldCursors())
        .orElse(told.iterator.flatMap(changesViolation).nextOption())
        .orElse(allVersions())
    }

    private def step(operation: Operation): Option[String] = operation match {
      case Open(index) =>
        val (version, content) = versions(index % versions.size)
        // The open transaction is neither committed nor aborted: it keeps its claim on the tail.
        open(version, content)
        None
      case Put(number, size, fill) =>
        val key = keyOf(number)
        val value = valueOf(size, fill)
        rowsOf(tableOf(number)).put(key, 0, key.length, value, 0, size)
        model = model.updated(modelKey(number), value.toVector)
        None
      case Remove(number) =>
        val key = keyOf(number)
        rowsOf(tableOf(number)).remove(key, 0, key.length)
        model = model - modelKey(number)
        None
      case Find(number) => lookup(modelKey(number))
      case FindAll(butEvery) => lookupInOrder(butEvery)
      case RemoveAll(every) =>
        val rows = rowsOf(every % tables)
        val cursor = rows.cursor()
        var seen = 0
        while (cursor.next()) {
          if (seen % every == 0) {
            val offset = RowRecord.keyOffset(cursor.offset)
            val length = RowRecord.keyLength(cursor.page, cursor.offset)
            rows.remove(cursor.page, offset, length)
            model = model - keyAt(cursor.page, cursor.offset)
          }
          seen += 1
        }
        None
      case Iterate =>
        (0 until tables).foreach { table =>
          cursors += HeldCursor(rowsOf(table).cursor(), modelOf(table), modelOf(table))
        }
        None
      case Evict(number, upTo, butEvery, putEvery) =>
        val table = number % tables
        val rows = rowsOf(table)
        val cursor = rows.cursorUpTo(time(number), timeOf(upTo))
        val before = modelOf(table)
        val expected = modelUpTo(before, table, time(number), timeOf(upTo))
        var seen = Set.empty[Key]
        var shown = 0
        var others = 0
        while (cursor.next()) {
          val key = keyAt(cursor.page, cursor.offset)
          shown += 1
          // An operator tests what it is shown.
          if (expected.contains(key)) {
            seen += key
            if (seen.size % butEvery != 0) {
              rows.remove(
                cursor.page,
                RowRecord.keyOffset(cursor.offset),
                RowRecord.keyLength(cursor.page, cursor.offset))
              model = model - key
            }
            if (seen.size % putEvery == 0) {
              val late = valueOf(24, (upTo - seen.size % 3).toByte)
              rows.put(key._2.toArray, 0, key._2.size, late, 0, late.length)
              model = model.updated(key, late.toVector)
            }
          } else if (before.contains(key)) others += 1
        }
        Option.when(seen != expected.keySet || shown != seen.size + others)(
          s"a walk up to a time showed $shown rows, ${seen.size} of ${expected.size} that have come " +
            s"to it and $others later ones")
      case IterateUpTo(number, upTo) =>
        val table = number % tables
        cursors += HeldCursor(
          rowsOf(table).cursorUpTo(time(number), timeOf(upTo)),
          modelUpTo(model, table, time(number), timeOf(upTo)),
          modelOf(table))
        None
      case CloseSome(every) =>
        val (closed, open) = cursors.zipWithIndex.partition(_._2 % every == 0)
        closed.foreach(_._1.cursor.close())
        cursors.clear()
        cursors ++= open.map(_._1)
        None
      case Reclaim =>
        if (!compacted) transaction.reclaim(slack = 0L)
        None
      case Compact =>
        transaction.compact()
        compacted = true
        None
      case Fail(at, number) =>
        transaction.abort()
        val failing = versions.last._1.open(new FailingMemory(at.toLong))
        var fill = 0
        var failed = false
        while (!failed) {
          val key = keyOf(number + fill % 40)
          fill += 1
          try {
            failing.table(tableOf(number), order).put(key, 0, key.length, key, 0, key.length)
            if (fill % 5 == 0) failing.table(tableOf(number), order).remove(key, 0, key.length)
          } catch { case _: OutOfMemoryError => failed = true }
        }
        failing.abort()
        val (version, content) = versions.last
        open(version, content)
        TableInvariants.firstViolation(version).orElse(this.content(version, content))
      case Scan(from, until) =>
        val (lower, upper) = (from.map(wordsOf), until.map(wordsOf))
        val table = tableOf(from.orElse(until).getOrElse(0))
        val cursor = rowsOf(table).scan(lower.map(_.toArray), upper.map(_.toArray))
        val expected = modelOf(table).filter { case (key, _) =>
          val words = wordsOf(key._2)
          lower.forall(!below(words, _)) && upper.forall(below(words, _))
        }
        cursors += HeldCursor(cursor, expected, expected)
        val again = rowsOf(table).scan(lower.map(_.toArray), upper.map(_.toArray))
        Option.when(!isSorted(again))(s"a scan is out of order")
      case Commit =>
        val changes = if (compacted) None else changesViolation(giveOut())
        val version = transaction.commit()
        versions += version -> model
        open(version, model)
        changes
          .orElse(TableInvariants.firstViolation(version))
          .orElse(content(version, model))
          .orElse(upToTimes(version, model))
      case Abort =>
        transaction.abort()
        val (version, content) = versions.last
        open(version, content)
        None
    }

    private def open(version: Version, content: Model): Unit = {
      baseVersion = version
      // Every second transaction is told where the time lies; the others go on with what is known.
      opened += 1
      val known = Option.when(opened % 2 == 0 && times.nonEmpty)(time(opened / 6))
      early = new Early
      transaction = version.open(eventTime = known, early = Some(early))
      compacted = false
      base = content
      model = content
    }

    private def wordsOf(number: Int): Vector[Long] = wordsOf(keyOf(number).toVector)

    private def wordsOf(key: Vector[Byte]): Vector[Long] = {
      val words = new Array[Long](order.fold(0)(_.words))
      order.foreach(_.newEncoder().write(key.toArray, 0, key.size, words))
      words.toVector
    }

    private def below(left: Vector[Long], right: Vector[Long]): Boolean =
      left.lazyZip(right).map(java.lang.Long.compareUnsigned(_, _)).find(_ != 0).exists(_ < 0)

    private def isSorted(cursor: RowCursor): Boolean = {
      var last = Option.empty[Vector[Long]]
      var sorted = true
      while (cursor.next()) {
        val words = wordsOf(keyAt(cursor.page, cursor.offset)._2)
        if (last.exists(below(words, _))) sorted = false
        last = Some(words)
      }
      sorted
    }

    private def lookup(key: Key): Option[String] = {
      val row = rowsOf(key._1).find(key._2.toArray, 0, key._2.size)
      val found =
        if (row == Rows.Absent) None
        else Some(valueAt(transaction.page(row), Rows.offset(row)))
      Option.when(found != model.get(key))(
        s"found ${found.map(_.take(8))} for key $key, expected ${model.get(key).map(_.take(8))}")
    }

    // All keys that the base had, in the order in which their rows lie there, but for some gaps: many
    // of them have another row by now, or none.
    private def lookupInOrder(butEvery: Int): Option[String] = {
      val cursor = baseVersion.table(butEvery % tables).cursor()
      var problem = Option.empty[String]
      var seen = 0
      while (problem.isEmpty && cursor.next()) {
        seen += 1
        if (seen % butEvery != 0) problem = lookup(keyAt(cursor.page, cursor.offset))
      }
      problem
    }

    // Some are told before the commit alone, so that not all are kept.
    private def giveOut(): Told = {
      val changes = transaction.changes()
      val out = Told(changes, transaction.changeCount, base, model, early.records)
      if (versions.size % 3 != 0) told += out
      out
    }

    // Applying the changes to the base has to give the result, and no key may occur twice. What was told
    // early is their beginning.
    private def changesViolation(told: Told): Option[String] = {
      val all, late = new Recording
      told.changes.foreach(all)
      told.changes.foreachLate(late)
      val seen = mutable.HashSet[Key]()
      val replayed = all.records.foldLeft(told.base) {
        case (rows, (key, Some(value))) => rows.updated(key, value)
        case (rows, (key, None)) => rows - key
      }
      all.records
        .collectFirst { case (key, _) if !seen.add(key) => s"key $key changed twice" }
        .orElse(Option.when(replayed != told.result)(
          "the changes do not lead from the base to the result"))
        .orElse(Option.when(seen.size.toLong != told.count || told.count != told.changes.count)(
          s"${seen.size} changes, counted as ${told.count} and ${told.changes.count}"))
        .orElse(Option.when(told.early ++ late.records != all.records)(
          s"${told.early.size} changes were told early and ${late.records.size} late, which are not " +
            s"the ${all.records.size} in their order"))
    }

    private def heldCursors(): Option[String] =
      cursors.iterator
        .flatMap { held =>
          Option.unless(isBetween(held.least, contentOf(held.cursor), held.most))(
            "a cursor does not show what it was opened on")
        }
        .nextOption()

    private def allVersions(): Option[String] =
      versions.iterator
        .flatMap { case (version, expected) => content(version, expected) }
        .nextOption()

    private def content(version: Version, expected: Model): Option[String] =
      Option.when(
        (0 until tables).map(table => contentOf(version.table(table).cursor())).reduce(_ ++ _) !=
          expected)("a version changed")

    private def upToTimes(version: Version, expected: Model): Option[String] =
      (for {
        time <- times.iterator
        table <- (0 until tables).iterator
        upTo <- Iterator(Long.MinValue, timeOf(-70), -1L, timeOf(3), timeOf(90), Long.MaxValue)
        found = contentOf(version.table(table).cursorUpTo(time, upTo))
        if !isBetween(modelUpTo(expected, table, time, upTo), found, expected)
      } yield s"a walk of a version up to $upTo by $time shows ${found.size} rows").nextOption()

    private def isBetween(least: Model, found: Model, most: Model): Boolean =
      least.keySet.subsetOf(found.keySet) &&
        found.forall { case (key, value) => most.get(key).contains(value) }

    private def contentOf(cursor: RowCursor): Model = {
      val rows = Map.newBuilder[Key, Vector[Byte]]
      while (cursor.next()) {
        rows += keyAt(cursor.page, cursor.offset) -> valueAt(cursor.page, cursor.offset)
      }
      rows.result()
    }
  }
}
