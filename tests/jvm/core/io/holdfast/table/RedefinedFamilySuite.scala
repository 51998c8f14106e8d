package io.holdfast.table

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.file.FamilyFiles

/** Column families that are defined in another way than they were. */
class RedefinedFamilySuite extends AnyFunSuite {
  private val plain = Family(1, "family", false, false, "", "keys 0", "values")

  private val definitions = Seq(
    "one value for a key" -> plain,
    "lists" -> plain.copy(hasManyValues = true),
    "keys in an order" -> plain.copy(keyEncoder = "ordered", keySchema = "keys 1"),
    "keys in the opposite order" -> plain.copy(keyEncoder = "ordered", keySchema = "keys 2"),
    "lists by keys in an order" ->
      plain.copy(hasManyValues = true, keyEncoder = "ordered", keySchema = "keys 1"))

  private def heads(rows: Transaction): TableWriter =
    rows.table(plain.keyTable, rows.families.withId(plain.id).flatMap(FamilyOperations.order))

  /** Gives a key values that take several parts, or one. */
  private def put(rows: Transaction, number: Long): Unit = {
    val key = Keys.key(number)
    if (rows.families.withId(plain.id).exists(_.hasManyValues)) {
      val lists = new ListWriter(heads(rows), rows.table(plain.partTable), rowChecksums = false)
      lists.begin(key, 0, key.length, append = true)
      (1 to 5).foreach(n => lists.add(Array.fill(400)(n.toByte), 0, 400))
      lists.finish()
    } else heads(rows).put(key, 0, key.length, key, 0, key.length)
  }

  private def remove(rows: Transaction, number: Long): Unit = {
    val key = Keys.key(number)
    if (rows.families.withId(plain.id).exists(_.hasManyValues))
      new ListWriter(heads(rows), rows.table(plain.partTable), rowChecksums = false)
        .remove(key, 0, key.length)
    else heads(rows).remove(key, 0, key.length)
  }

  for ((before, from) <- definitions; (after, to) <- definitions if from != to)
    test(s"a family of $before that loses its rows in the batch that makes it one of $after") {
      val base = Keys.changed(Version.empty) { rows =>
        rows.define(from)
        (1L to 20L).foreach(put(rows, _))
      }
      val rows = base.open()
      (15L to 30L).foreach(put(rows, _))
      (1L to 30L).foreach(remove(rows, _))
      rows.define(to)
      (18L to 25L).foreach(put(rows, _))
      val delta = FamilyFiles.ofChanges(rows.changes())
      assertLeads(delta, base, rows.commit(), to)
    }

  for ((what, from) <- definitions; hasRows <- Seq(true, false)) {
    val rowsOfBase = if (hasRows) "rows in" else "no rows in"
    test(s"a family of $what with other values and $rowsOfBase the version before is not removed") {
      val to = from.copy(valueSchema = "other values")
      val base = Keys.changed(Version.empty) { rows =>
        rows.define(from)
        if (hasRows) (1L to 20L).foreach(put(rows, _))
      }
      val rows = base.open()
      (15L to 30L).foreach(put(rows, _))
      (1L to 30L).foreach(remove(rows, _))
      rows.define(to)
      (18L to 25L).foreach(put(rows, _))
      val changes = rows.changes()
      assert(changes.families === FamilyChanges(Nil, Seq(to)))
      val delta = FamilyFiles.ofChanges(changes)
      assert(keysRemovedBy(changes, to) === (if (hasRows) 17 else 0))
      assertLeads(delta, base, rows.commit(), to)
    }
  }

  test("whether keys in other words are what they were is said by who defines the family") {
    val renamed = plain.copy(keySchema = "keys by another name")
    val base = Keys.changed(Version.empty)(_.define(plain))
    def changes(keepsKeys: Boolean): FamilyChanges = {
      val rows = base.open()
      rows.define(renamed, keepsKeys)
      try rows.changes().families
      finally rows.abort()
    }
    assert(changes(keepsKeys = true) === FamilyChanges(Nil, Seq(renamed)))
    assert(changes(keepsKeys = false) === FamilyChanges(Seq(plain.id), Seq(renamed)))
  }

  test("a file that removes a family and defines it with other values is replayed as it says") {
    val to = plain.copy(valueSchema = "other values")
    val base = Keys.changed(Version.empty) { rows =>
      rows.define(plain)
      (1L to 20L).foreach(put(rows, _))
    }
    val rows = base.open()
    rows.remove(plain)
    rows.define(to)
    (18L to 25L).foreach(put(rows, _))
    val changes = rows.changes()
    assert(changes.families === FamilyChanges(Seq(plain.id), Seq(to)))
    val delta = FamilyFiles.ofChanges(changes)
    rows.abort()
    val replayed = Keys.changed(base) { rows =>
      val _ = FamilyFiles.replay(delta, FamilyFiles.delta, rows)
    }
    assertHolds(replayed, to)
  }

  private def keysRemovedBy(changes: Changes, family: Family): Int = {
    var count = 0
    changes.foreach(new ChangeVisitor {
      override def put(page: Array[Byte], offset: Int): Unit = ()
      override def remove(page: Array[Byte], offset: Int): Unit =
        if (RowRecord.table(page, offset) == family.keyTable) count += 1
    })
    count
  }

  /** That a delta leads from one version to the next, and what that holds. */
  private def assertLeads(
      delta: Array[Byte],
      base: Version,
      version: Version,
      family: Family): Assertion = {
    assertHolds(version, family)
    val replayed = Keys.changed(base) { rows =>
      val _ =
        FamilyFiles.replay(delta, FamilyFiles.delta, rows, order = FamilyOperations.order(_))
    }
    assertHolds(replayed, family)
    assert(FamilyContent.of(replayed) === FamilyContent.of(version))
  }

  private def assertHolds(version: Version, family: Family): Assertion = {
    val table = version.table(family.keyTable)
    assert(version.families.all === Seq(family))
    assert(table.keyCount === 8L)
    FamilyOperations.order(family).foreach { _ =>
      val scanned = FamilyContent.rowsOf(
        table.scan(None, None),
        new ListCursor(version.table(family.partTable)),
        family)
      assert(scanned === FamilyContent.of(version, family))
    }
    assert(TableInvariants.firstViolation(version) === None)
  }

  private def refused(family: Family, before: Family, what: String)(fill: Transaction => Unit) = {
    val rows = Version.empty.open()
    rows.define(before)
    fill(rows)
    val e = intercept[IllegalArgumentException](rows.define(family))
    assert(e.getMessage === what)
    intercept[IllegalStateException](rows.commit())
    rows.abort()
  }

  test("a family with rows keeps its name, the number of values for a key, and how it is scanned") {
    def ofPlain(family: Family, what: String): Unit = refused(family, plain, what)(put(_, 1L))
    ofPlain(
      plain.copy(name = "other"),
      "column family 'family' has the id 1, and 'other' cannot have it too")
    ofPlain(
      plain.copy(keyEncoder = "ordered"),
      "rows of column family 'family' are scanned by , and cannot be scanned by ordered")
    ofPlain(
      plain.copy(hasManyValues = true),
      "rows of column family 'family' have one value for a key, and cannot have several values")
    val changed = Keys.changed(Version.empty) { rows =>
      rows.define(plain)
      put(rows, 1L)
      rows.define(plain.copy(valueSchema = "other values"))
    }
    assert(changed.keyCount(plain) === 1L)
  }

  test("the family that every store has keeps them without rows too") {
    val default = plain.copy(id = 0, name = "default")
    refused(
      default.copy(hasManyValues = true),
      default,
      "rows of column family 'default' have one value for a key, and cannot have several values")(
      _ => ())
  }
}
