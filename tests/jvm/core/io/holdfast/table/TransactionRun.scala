package io.holdfast.table

import scala.collection.mutable

import io.holdfast.table.TransactionContent._
import io.holdfast.table.TransactionOperations._

/** Does what [[TransactionOperations]] say, to versions and to immutable maps, and compares.
  *
  * @param order
  *   in which all tables are scanned, if they are
  * @param times
  *   where the time of rows lies, in the opinion of one transaction after the other
  */
final class TransactionRun(
    order: Option[RowOrder],
    keyOf: Int => Array[Byte],
    tables: Int,
    times: Seq[EventTime]) {
  import TransactionRun._

  private val versions = mutable.ArrayBuffer[(Version, Model)](Version.empty(order) -> Map.empty)
  private val cursors = mutable.ArrayBuffer[HeldCursor]()
  private val told = mutable.ArrayBuffer[ToldChanges]()
  private var base: Model = Map.empty
  private var model: Model = Map.empty
  private var baseVersion = versions(0)._1
  private var early = new ToldChanges.Early
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

  /** What went wrong first, or else with what is still held at the end; none if nothing did. */
  def violation(operations: List[Operation]): Option[String] = {
    val during = operations.iterator.zipWithIndex
      .flatMap { case (operation, at) =>
        step(operation).map(problem => s"operation $at ($operation): $problem")
      }
      .nextOption()
    during
      .orElse(step(Commit))
      .orElse(heldCursors())
      .orElse(told.iterator.flatMap(_.violation).nextOption())
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
    case RemoveAll(every) =>
      removeAll(every)
      None
    case Find(number) => lookup(modelKey(number))
    case FindAll(butEvery) => lookupInOrder(butEvery)
    case Iterate =>
      (0 until tables).foreach { table =>
        cursors += HeldCursor(rowsOf(table).cursor(), modelOf(table), modelOf(table))
      }
      None
    case IterateUpTo(number, upTo) =>
      val table = number % tables
      cursors += HeldCursor(
        rowsOf(table).cursorUpTo(time(number), timeOf(upTo)),
        modelUpTo(model, table, time(number), timeOf(upTo)),
        modelOf(table))
      None
    case Evict(number, upTo, butEvery, putEvery) => evict(number, upTo, butEvery, putEvery)
    case Scan(from, until) => scan(from, until)
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
    case Commit => commit()
    case Fail(at, number) => fail(at, number)
    case Abort =>
      transaction.abort()
      openLast()
      None
  }

  private def removeAll(every: Int): Unit = {
    val rows = rowsOf(every % tables)
    val cursor = rows.cursor()
    var seen = 0
    while (cursor.next()) {
      if (seen % every == 0) {
        remove(rows, cursor)
        model = model - keyAt(cursor.page, cursor.offset)
      }
      seen += 1
    }
  }

  private def evict(number: Int, upTo: Byte, butEvery: Int, putEvery: Int): Option[String] = {
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
          remove(rows, cursor)
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
  }

  private def remove(rows: TableWriter, cursor: RowCursor): Unit =
    rows.remove(
      cursor.page,
      RowRecord.keyOffset(cursor.offset),
      RowRecord.keyLength(cursor.page, cursor.offset))

  private def scan(from: Option[Int], until: Option[Int]): Option[String] = {
    val (lower, upper) = (from.map(wordsOf), until.map(wordsOf))
    val table = tableOf(from.orElse(until).getOrElse(0))
    val cursor = rowsOf(table).scan(lower.map(_.toArray), upper.map(_.toArray))
    val expected = modelOf(table).filter { case (key, _) =>
      val words = wordsOf(key._2)
      lower.forall(!below(words, _)) && upper.forall(below(words, _))
    }
    cursors += HeldCursor(cursor, expected, expected)
    val again = rowsOf(table).scan(lower.map(_.toArray), upper.map(_.toArray))
    Option.when(!isSorted(again))("a scan is out of order")
  }

  private def commit(): Option[String] = {
    val changes = if (compacted) None else giveOut().violation
    val version = transaction.commit()
    versions += version -> model
    open(version, model)
    changes
      .orElse(TableInvariants.firstViolation(version))
      .orElse(content(version, model))
      .orElse(upToTimes(version, model))
  }

  private def fail(at: Int, number: Int): Option[String] = {
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
    openLast()
    TableInvariants.firstViolation(baseVersion).orElse(content(baseVersion, model))
  }

  private def openLast(): Unit = {
    val (version, content) = versions.last
    open(version, content)
  }

  private def open(version: Version, content: Model): Unit = {
    baseVersion = version
    // Every second transaction is told where the time lies; the others go on with what is known.
    opened += 1
    val known = Option.when(opened % 2 == 0 && times.nonEmpty)(time(opened / 6))
    early = new ToldChanges.Early
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
  private def giveOut(): ToldChanges = {
    val changes = transaction.changes()
    val out = ToldChanges(changes, transaction.changeCount, base, model, early.records)
    if (versions.size % 3 != 0) told += out
    out
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
}

object TransactionRun {

  /** A walk that is not at its end, which has to show some rows and may show others. */
  final private case class HeldCursor(cursor: RowCursor, least: Model, most: Model)
}
