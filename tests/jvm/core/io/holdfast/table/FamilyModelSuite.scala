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
  import FamilyOperations.{operations, Operation}

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
    operations(6, 150, Seq(0, 8, 504, 1000, 1008, 4000, 40000, 300000)))

  check(
    "few keys: lists begin and go on with values that fill a part, and larger ones",
    200,
    operations(4, 150, Seq(8, 496, 1000, 1008, 2000)))
}

object FamilyModelSuite {
  import FamilyContent._
  import FamilyOperations._

  private final case class Model(families: Map[String, Family], rows: Content)

  private def keyOf(number: Int): Array[Byte] = {
    val key = new Array[Byte](8 * (1 + number % 2))
    Bytes.putInt(key, key.length - 4, number)
    key
  }

  private val noFamilies = Model(Map.empty, Map.empty)

  private final class Run {
    // Each version with what it holds and, if a commit made it, the delta that leads to it.
    private val versions =
      mutable.ArrayBuffer[(Version, Model, Option[Array[Byte]])]((Version.empty, noFamilies, None))
    private val held = mutable.ArrayBuffer[(ListCursor, Vector[Value])]()
    private val walks =
      mutable.ArrayBuffer[(() => Map[Value, Vector[Value]], Map[Value, Vector[Value]])]()
    private var base = Version.empty
    private var model = noFamilies
    private var rows: Transaction = base.open()
    // Ids of families that were removed since, or became others.
    private var gone = Set.empty[Int]

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
      rows.table(family.keyTable, order(family))

    private def lists(family: Family): ListWriter =
      new ListWriter(heads(family), rows.table(family.partTable), rowChecksums = false)

    private def known(family: Int): Option[Family] = rows.families.get(name(family))

    private def step(operation: Operation): Option[String] = operation match {
      case Define(number, many, keys, values) =>
        define(number, many, keys, values)
        None
      case RemoveFamily(number) =>
        known(number).filter(_.id > 0).foreach { family =>
          rows.remove(family)
          gone += family.id
          model = Model(model.families - family.name, model.rows - family.name)
        }
        None
      case Empty(number) =>
        known(number).foreach(family =>
          model.rows(family.name).keysIterator.foreach(remove(family, _)))
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
          put(family, keyOf(key).toVector, before ++ values.map(_.toVector))
        }
        None
      case Rewrite(number, key) =>
        known(number).foreach(rewrite(_, keyOf(key), valuesIn(number, key)))
        None
      case RemoveKey(number, key) =>
        known(number).foreach(remove(_, keyOf(key).toVector))
        None
      case Look(number, key, hold) => known(number).flatMap(look(_, number, key, hold))
      case Walk(number) =>
        known(number).foreach { family =>
          val cursor = heads(family).cursor()
          val lists = new ListCursor(rows.table(family.partTable).moment())
          walks += ((() => rowsOf(cursor, lists, family), model.rows(family.name)))
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

    // The first has the id of the one that every store has.
    private def define(number: Int, many: Boolean, keys: Int, values: Int): Unit = {
      val valueSchema = s"values $values"
      val family = known(number) match {
        case Some(family) if family.id == 0 || model.rows(family.name).nonEmpty =>
          family.copy(valueSchema = valueSchema)
        case None if number == 0 =>
          Family(0, name(number), false, false, "", "keys 0", valueSchema)
        case before =>
          val id = before.fold(rows.families.freeId)(_.id)
          val encoder = if (keys > 0) "ordered" else ""
          Family(id, name(number), many, many, encoder, s"keys $keys", valueSchema)
      }
      known(number).foreach { before =>
        if (before.copy(valueSchema = valueSchema) != family) gone += family.id
      }
      rows.define(family)
      model = Model(
        model.families.updated(family.name, family),
        model.rows.updated(family.name, model.rows.getOrElse(family.name, Map.empty)))
    }

    private def remove(family: Family, key: Value): Unit = {
      val bytes = key.toArray
      if (family.hasManyValues) lists(family).remove(bytes, 0, bytes.length)
      else heads(family).remove(bytes, 0, bytes.length)
      put(family, key, Vector.empty)
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

    private def rewrite(family: Family, key: Array[Byte], values: Vector[Value]): Unit =
      if (values.nonEmpty && family.hasManyValues) {
        val writer = lists(family)
        writer.beginAgain(key, 0, key.length)
        values.foreach(value => writer.add(value.toArray, 0, value.size))
        writer.finish()
      } else {
        values.foreach { value =>
          heads(family).rewrite(key, 0, key.length, value.toArray, 0, value.size)
        }
      }

    private def valuesIn(family: Int, key: Int): Vector[Value] =
      model.rows(name(family)).getOrElse(keyOf(key).toVector, Vector.empty)

    private def put(family: Family, key: Value, values: Vector[Value]): Unit = {
      val before = model.rows(family.name)
      val after = if (values.isEmpty) before - key else before.updated(key, values)
      model = model.copy(rows = model.rows.updated(family.name, after))
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
          cursor.openFirst(page, offset)
          Option
            .when(found != expected)(s"found ${found.size} values of ${expected.size}")
            .orElse(Option.when(rest(cursor) != expected.take(1))("found another first value"))
        }
      }
    }

    private def commit(): Option[String] = {
      val changes = rows.changes()
      val delta = FamilyFiles.ofChanges(changes)
      val told = keptViolation(changes)
        .orElse(newnessViolation(changes))
        .orElse(removalViolation(changes))
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

    // A family whose values alone are others is not removed, with rows or without.
    private def removalViolation(changes: Changes): Option[String] = {
      val expected = gone.filter(base.families.withId(_).isDefined).toSeq.sorted
      Option.when(changes.families.removed != expected)(
        s"removes families ${changes.families.removed}, expected $expected")
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

    // What a delta says is not new is as the base has it, but for the values that are added to a list.
    private def newnessViolation(changes: Changes): Option[String] = {
      var problem = Option.empty[String]
      changes.foreach(new ChangeVisitor {
        override def remove(page: Array[Byte], offset: Int): Unit = ()
        override def put(page: Array[Byte], offset: Int): Unit = {
          val table = RowRecord.table(page, offset)
          val id = Family.idOfTable(table)
          val family = rows.families.withId(id).get
          val key = keyAt(page, offset)
          val now = model.rows(family.name).getOrElse(key, Vector.empty)
          // A family of the same name that had another id is another one.
          val isTheSame = !changes.families.removed.contains(id) &&
            base.families.withId(id).exists(_.name == family.name)
          val were =
            if (isTheSame) versions.last._2.rows(family.name).getOrElse(key, Vector.empty)
            else Vector.empty
          if (!family.hasManyValues) {
            if (RowRecord.isRewritten(page, offset) && were != now)
              problem = Some(s"a row of table $table is not what it says to be")
          } else if (!Family.hasParts(table)) {
            val isRenewed = ListPart.isRenewed(page, RowRecord.valueOffset(page, offset))
            if (!isRenewed && !now.startsWith(were))
              problem = Some(s"a list of table $table says to be the one before it")
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
        .filter(family => version.table(family.keyTable).keyCount > 0)
        .flatMap(family => order(family).flatMap(scan(version, family, _)))
        .nextOption()

    private def scan(version: Version, family: Family, order: RowOrder): Option[String] = {
      def rows() = version.table(family.keyTable).scan(None, None)
      val lists = new ListCursor(version.table(family.partTable))
      val words = wordsOf(rows(), order)
      if (rowsOf(rows(), lists, family) != of(version, family))
        Some(s"a scan of ${family.name} shows other rows")
      else
        Option.when(words.zip(words.drop(1)).exists { case (one, next) =>
          java.lang.Long.compareUnsigned(one, next) > 0
        })(s"a scan of ${family.name} shows rows in another order")
    }

    private def wordsOf(rows: RowCursor, order: RowOrder): Vector[Long] = {
      val encoder = order.newEncoder()
      val words = Array(0L)
      Iterator
        .continually(rows.next())
        .takeWhile(identity)
        .map { _ =>
          val key = keyAt(rows.page, rows.offset).toArray
          encoder.write(key, 0, key.length, words)
          words(0)
        }
        .toVector
    }

    private def open(version: Version, content: Model): Unit = {
      base = version
      model = content
      rows = version.open()
      gone = Set.empty
    }

    private def changed(version: Version)(change: Transaction => Unit): Version =
      Keys.changed(version)(change)

    private def different(version: Version, expected: Model): Option[String] = {
      val found = of(version)
      val families = version.families.all.map(family => family.name -> family).toMap
      val all = expected.rows.valuesIterator.map(_.size.toLong).sum
      val counted =
        version.families.all.map(family => version.table(family.keyTable).keyCount).sum
      Option
        .when(found != expected.rows) {
          val names = found.keySet ++ expected.rows.keySet
          val wrong = names.filter(name => found.get(name) != expected.rows.get(name))
          s"a version has other rows in ${wrong.mkString(", ")}"
        }
        .orElse(Option.when(families != expected.families)(
          s"a version has the families ${families.values}, and should ${expected.families.values}"))
        .orElse(Option.when(counted != all)(s"a version counts $counted keys and has $all"))
    }
  }
}
