package io.holdfast.table

import org.scalatest.funsuite.AnyFunSuite

/** Parts of lists as files may have them. */
class ListPartSuite extends AnyFunSuite {
  private val family = Family(1, "lists", false, true, "", "key", "value")
  private val key = Keys.key(1L)
  private val large = Vector.fill[Byte](3000)(1)
  private val small = Vector.fill[Byte](8)(2)

  private def part(parts: Int, values: Vector[Byte]*): Array[Byte] = {
    val lengths = values.map { value =>
      val length = new Array[Byte](ListPart.LengthBytes)
      Bytes.putInt(length, 0, value.size)
      length
    }
    val header = new Array[Byte](ListPart.HeaderBytes)
    ListPart.writeHeader(header, parts, values.size, kept = 0)
    header ++ lengths.zip(values).flatMap { case (length, value) => length ++ value }
  }

  private def problem(part: Array[Byte], isFirst: Boolean): Option[String] =
    Option(ListPart.problem(part, 0, part.length, isFirst))

  test("the first part alone may have no values, and only where there are others") {
    assert(problem(part(2), isFirst = true).isEmpty)
    assert(problem(part(1), isFirst = true).exists(_.contains("expected 0 values")))
    assert(problem(part(0), isFirst = false).exists(_.contains("expected 0 values")))
    assert(problem(part(2), isFirst = false).exists(_.contains("expected 0 values")))
    assert(problem(part(2) ++ new Array[Byte](8), isFirst = true).isDefined)
    assert(problem(part(1, large, small), isFirst = true).isEmpty)
  }

  test("a list that has its large first value in part 0 is read, added to and put anew") {
    val base = Keys.changed(Version.empty) { rows =>
      rows.define(family)
      val old = part(1, large, small)
      rows.table(family.keyTable).put(key, 0, key.length, old, 0, old.length)
    }
    def content(version: Version) = FamilyContent.of(version)("lists")(key.toVector)
    def changed(append: Boolean)(values: Vector[Byte]*): Version = Keys.changed(base) { rows =>
      val lists =
        new ListWriter(
          rows.table(family.keyTable),
          rows.table(family.partTable),
          rowChecksums = false)
      lists.begin(key, 0, key.length, append)
      values.foreach(value => lists.add(value.toArray, 0, value.size))
      lists.finish()
    }
    assert(content(base) === Vector(large, small))
    assert(
      content(changed(append = true)(small, large, small)) ===
        Vector(large, small, small, large, small))
    assert(content(changed(append = false)(large)) === Vector(large))
    assert(content(changed(append = false)(small)) === Vector(small))
  }

  test("a first value that a damaged list does not have is missed") {
    val rows = Version.empty.open()
    rows.define(family)
    val head = part(3)
    rows.table(family.keyTable).put(key, 0, key.length, head, 0, head.length)
    val table = rows.table(family.keyTable)
    val row = table.find(key, 0, key.length)
    val cursor = new ListCursor(rows.table(family.partTable))
    val e = intercept[IllegalStateException](cursor.openFirst(table.page(row), Rows.offset(row)))
    assert(e.getMessage.contains("a list of 3 parts, and part 1 is not there"))
  }
}
