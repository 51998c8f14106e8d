package io.holdfast.table

import scala.collection.mutable

import org.scalacheck.{Gen, Prop}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.file.FamilyFiles
import io.holdfast.testkit.SeededTests

/** Random operations on stores with column families, compared with maps: in memory, by their deltas and
  * by their snapshots.
  */
class FamilyModelSuite extends AnyFunSuite with SeededTests {
  import FamilyModelSuite._

  private def check(name: String, runs: Int, operations: Gen[List[Operation]]): Unit =
    property(name, runs) {
      Prop.forAll(operations) { list =>
        new Run().violation(list) match {
          case None => Prop.passed
          case Some(problem) => Prop.falsified :| problem
        }
      }
    }

  check(
    "few keys: families come and go, lists grow over parts",
    400,
    operations(5, 150, Seq(0, 8, 64)))

  check("many keys: rows of all families move together", 20, operations(600, 4000, Seq(8, 64)))

  check(
    "values of every size, some larger than a page",
    40,
    operations(6, 150, Seq(0, 8, 504, 1016, 4000, 40000, 300000)))
}

object FamilyModelSuite {
  import FamilyContent._

  sealed trait Operation
  final case class Define(family: Int, many: Boolean, ordered: Boolean) extends Operation
  final case class RemoveFamily(family: Int) extends Operation

  /** Replaces the values of a key, or adds to them where a key has several. */
  final case class Change(family: Int, key: Int, append: Boolean, count: Int, size: Int, fill: Byte)
      extends Operation
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
    val operation = Gen.frequency[Operation](
      4 -> Gen.zip(family, flag, flag).map((Define.apply _).tupled),
      1 -> family.map(RemoveFamily(_)),
      60 -> Gen
        .zip(family, key, flag, Gen.choose(0, 6), Gen.oneOf(sizes), Gen.choose[Byte](-128, 127))
        .map((Change.apply _).tupled),
      15 -> Gen.zip(family, key).map((RemoveKey.apply _).tupled),
      4 -> Gen.zip(family, key, flag).map((Look.apply _).tupled),
      2 -> family.map(Walk(_)),
      3 -> Gen.const(Commit),
      1 -> Gen.const(Abort),
      1 -> Gen.const(Reload),
      1 -> Gen.choose(1, 5).map(Replay(_)))
    for {
      // So that most runs have something to change.
      first <- Gen.listOfN(4, Gen.zip(family, flag, flag).map((Define.apply _).tupled))
      count <- Gen.choose(1, length)
      rest <- Gen.listOfN(count, operation)
    } yield first ++ rest
  }

  private val order: Option[RowOrder] = Some(ByLastInt)

  /** Several keys are alike. */
  private object ByLastInt extends RowOrder with RowOrder.Encoder {
    override val words = 1
    override def newEncoder(): RowOrder.Encoder = this
    override def write(key: Array[Byte], offset: Int, length: Int, into: Array[Long]): Unit =
      into(0) = Bytes.getInt(key, offset + length - 4).toLong / 3
  }

  private def keyOf(number: Int): Array[Byte] = {
    val key = new Array[Byte](8 * (1 + number % 2))
    Bytes.putInt(key, key.length - 4, number)
    key
  }

  private final class Run {
    // Each version with what it holds and, if a commit made it, the delta that leads to it.
    private val versions =
      mutable.ArrayBuffer[(Version, Content, Option[Array[Byte]])]((Version.empty, Map.empty, None))
    private val held = mutable.ArrayBuffer[(ListCursor, Vector[Value])]()
    private val walks =
      mutable.ArrayBuffer[(() => Map[Value, Vector[Value]], Map[Value, Vector[Value]])]()
    private var base = Version.empty
    private var model: Content = Map.empty
    private var rows: Transaction = base.open()

    def violation(operations: List[Operation]): Option[String] =
      (operations :+ Commit :+ Replay(versions.size)).iterator.zipWithIndex
        .flatMap { case (operation, at) =>
          step(operation).map(problem => s"operation $at ($operation): $problem")
        }
        .nextOption()
        .orElse(Option.when(held.exists { case (cursor, values) => rest(cursor) != values })(
          "a walk over a list does not show what it was opened on"))
        .orElse(Option.when(walks.exists { case (show, content) => show() != content })(
          "a walk over a family does not show what it was opened on"))
        .orElse(versions.iterator
          .flatMap { case (version, content, _) =>
            different(version, content)
          }
          .nextOption())

    private def name(family: Int): String = s"family $family"

    private def heads(family: Family): TableWriter =
      rows.table(family.keyTable, order.filter(_ => family.keyEncoder.nonEmpty))

    private def lists(family: Family): ListWriter =
      new ListWriter(heads(family), rows.table(family.partTable), rowChecksums = false)

    private def known(family: Int): Option[Family] = rows.families.get(name(family))

    private def step(operation: Operation): Option[String] = operation match {
      case Define(number, many, ordered) =>
        if (known(number).isEmpty) {
          val encoder = if (ordered) "ordered" else ""
          rows.define(
            Family(rows.families.freeId, name(number), many, many, encoder, "key", "value"))
          model += name(number) -> Map.empty
        }
        None
      case RemoveFamily(number) =>
        known(number).foreach { family =>
          rows.remove(family)
          model -= name(number)
        }
        None
      case Change(number, key, append, count, size, fill) =>
        known(number).foreach { family =>
          val values =
            Vector.tabulate(if (family.hasManyValues) count else 1) { i =>
              Array.fill[Byte](size)((fill + i).toByte)
            }
          if (family.hasManyValues) change(family, keyOf(key), values, append)
          else {
            val bytes = keyOf(key)
            heads(family).put(bytes, 0, bytes.length, values.head, 0, size)
          }
          val before =
            if (append && family.hasManyValues) valuesIn(number, key) else Vector.empty
          put(number, key, before ++ values.map(_.toVector))
        }
        None
      case RemoveKey(number, key) =>
        known(number).foreach { family =>
          val bytes = keyOf(key)
          if (family.hasManyValues) lists(family).remove(bytes, 0, bytes.length)
          else heads(family).remove(bytes, 0, bytes.length)
          put(number, key, Vector.empty)
        }
        None
      case Look(number, key, hold) => known(number).flatMap(look(_, number, key, hold))
      case Walk(number) =>
        known(number).foreach { family =>
          val cursor = heads(family).cursor()
          val lists = new ListCursor(rows.table(family.partTable).moment())
          walks += ((() => rowsOf(cursor, lists, family), model(name(number))))
        }
        None
      case Commit => commit()
      case Abort =>
        rows.abort()
        val (version, content, _) = versions.last
        open(version, content)
        None
      case Reload =>
        val (version, content, _) = versions.last
        val loaded = changed(Version.empty) { rows =>
          val _ = FamilyFiles.replay(
            FamilyFiles.ofVersion(version),
            FamilyFiles.snapshot,
            rows,
            order = order)
        }
        rows.abort()
        versions += ((loaded, content, None))
        open(loaded, content)
        TableInvariants.firstViolation(loaded).orElse(different(loaded, content))
      case Replay(deltas) => replay(deltas)
    }

    private def change(
        family: Family,
        key: Array[Byte],
        values: Vector[Array[Byte]],
        append: Boolean): Unit = {
      val writer = lists(family)
      writer.begin(key, 0, key.length, append)
      values.foreach(value => writer.add(value, 0, value.length))
      writer.finish()
    }

    private def valuesIn(family: Int, key: Int): Vector[Value] =
      model(name(family)).getOrElse(keyOf(key).toVector, Vector.empty)

    private def put(family: Int, key: Int, values: Vector[Value]): Unit = {
      val bytes = keyOf(key).toVector
      val rows = model(name(family))
      model += name(family) -> (if (values.isEmpty) rows - bytes else rows.updated(bytes, values))
    }

    private def look(family: Family, number: Int, key: Int, hold: Boolean): Option[String] = {
      val bytes = keyOf(key)
      val row = heads(family).find(bytes, 0, bytes.length)
      val expected = valuesIn(number, key)
      if (row == Rows.Absent)
        Option.when(expected.nonEmpty)(s"found none of ${expected.size} values")
      else {
        val page = heads(family).page(row)
        val offset = Rows.offset(row)
        val cursor = new ListCursor(rows.table(family.partTable))
        if (!family.hasManyValues)
          Option.when(Vector(valueAt(page, offset)) != expected)("found another value")
        else if (hold) {
          cursor.open(page, offset)
          held += cursor -> expected
          None
        } else {
          val found = valuesOf(cursor, page, offset)
          Option.when(found != expected)(s"found ${found.size} values of ${expected.size}")
        }
      }
    }

    private def commit(): Option[String] = {
      val changes = rows.changes()
      val delta = FamilyFiles.ofChanges(changes)
      val told = keptViolation(changes)
      val before = base
      val version = rows.commit()
      versions += ((version, model, Some(delta)))
      open(version, model)
      lazy val replayed = changed(before)(apply(_, delta))
      told
        .orElse(TableInvariants.firstViolation(version))
        .orElse(different(version, model))
        .orElse(different(replayed, model).map(_ + " by its delta"))
        .orElse(scans(version))
    }

    private def apply(rows: Transaction, delta: Array[Byte]): Unit = {
      val _ = FamilyFiles.replay(delta, FamilyFiles.delta, rows, order = order)
    }

    // Several deltas one after the other in one transaction, as a load applies them.
    private def replay(deltas: Int): Option[String] = {
      val last = versions.lastIndexWhere(_._3.isEmpty)
      val start = math.max(last, versions.size - 1 - deltas)
      val replayed = changed(versions(start)._1) { rows =>
        versions.drop(start + 1).foreach { case (_, _, delta) =>
          delta.foreach(apply(rows, _))
          rows.compact()
        }
      }
      TableInvariants
        .firstViolation(replayed)
        .orElse(different(replayed, versions.last._2).map(_ + " by several deltas"))
    }

    // The first values of a part that a delta says were kept are those that the base has.
    private def keptViolation(changes: Changes): Option[String] = {
      var problem = Option.empty[String]
      changes.foreach(new ChangeVisitor {
        override def remove(page: Array[Byte], offset: Int): Unit = ()
        override def put(page: Array[Byte], offset: Int): Unit = {
          val table = RowRecord.table(page, offset)
          if (rows.families.withId(Family.idOfTable(table)).exists(_.hasManyValues)) {
            val key = keyAt(page, offset).toArray
            val row = base.table(table).find(key, 0, key.length)
            val kept = ListPart.kept(page, RowRecord.valueOffset(page, offset))
            val were =
              if (row == Rows.Absent || kept == 0) Vector.empty
              else valuesOfPart(base.table(table).page(row), Rows.offset(row))
            if (were.size < kept || were.take(kept) != valuesOfPart(page, offset).take(kept))
              problem = Some(s"a part of table $table does not have the $kept values that it keeps")
          }
        }
      })
      problem
    }

    private def valuesOfPart(page: Array[Byte], offset: Int): Vector[Value] = {
      val start = RowRecord.valueOffset(page, offset)
      var at = start + ListPart.HeaderBytes
      Vector.fill(ListPart.values(page, start)) {
        val length = ListPart.length(page, at)
        at += ListPart.LengthBytes + length
        page.slice(at - length, at).toVector
      }
    }

    private def scans(version: Version): Option[String] =
      version.families.all.iterator
        .filter(family => family.keyEncoder.nonEmpty && version.table(family.keyTable).keyCount > 0)
        .flatMap { family =>
          val scan = version.table(family.keyTable).scan(None, None)
          val found = rowsOf(scan, new ListCursor(version.table(family.partTable)), family)
          Option.when(found != of(version, family))(s"a scan of ${family.name} shows other rows")
        }
        .nextOption()

    private def open(version: Version, content: Content): Unit = {
      base = version
      model = content
      rows = version.open()
    }

    private def changed(version: Version)(change: Transaction => Unit): Version =
      Keys.changed(version)(change)

    private def different(version: Version, expected: Content): Option[String] = {
      val found = of(version)
      val all = expected.valuesIterator.map(_.size.toLong).sum
      val counted =
        version.families.all.map(family => version.table(family.keyTable).keyCount).sum
      Option
        .when(found != expected) {
          val wrong = (found.keySet ++ expected.keySet).filter(n => found.get(n) != expected.get(n))
          s"a version has other rows in ${wrong.mkString(", ")}"
        }
        .orElse(Option.when(counted != all)(s"a version counts $counted keys and has $all"))
    }
  }
}
