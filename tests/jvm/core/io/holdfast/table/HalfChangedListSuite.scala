package io.holdfast.table

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** Changes of lists that fail when some of their parts have been put. */
class HalfChangedListSuite extends AnyFunSuite {
  private val family = Family(1, "lists", false, true, "", "key", "value")
  private val key = Keys.key(1L)

  private def lists(rows: Transaction): ListWriter =
    new ListWriter(rows.table(family.keyTable), rows.table(family.partTable), rowChecksums = false)

  private def add(lists: ListWriter, values: Range): Unit =
    values.foreach(n => lists.add(Array.fill(400)(n.toByte), 0, 400))

  private val base = Keys.changed(Version.empty) { rows =>
    rows.define(family)
    val writer = lists(rows)
    writer.begin(key, 0, key.length, append = true)
    add(writer, 1 to 5)
    writer.finish()
  }

  /** Begins a change, puts parts and fails; then nothing of it is ever committed. */
  private def assertNeverCommits[E <: Throwable: reflect.ClassTag](append: Boolean)(
      failing: ListWriter => Unit): Assertion = {
    val before = FamilyContent.of(base)
    val rows = base.open()
    val writer = lists(rows)
    writer.begin(key, 0, key.length, append)
    add(writer, 6 to 16)
    val e = intercept[E](failing(writer))
    Seq[() => Any](
      () => writer.begin(key, 0, key.length, append),
      () => rows.changes(),
      () => rows.commit()).foreach { use =>
      val refused = intercept[IllegalStateException](use())
      assert(refused.getMessage.contains("can only be aborted"))
      assert(refused.getCause eq e)
    }
    rows.abort()
    assert(FamilyContent.of(base) === before)
  }

  Seq(true, false).foreach { append =>
    val how = if (append) "added to a list" else "put in the place of a list"

    test(s"a value of no whole words among those that are $how ends the transaction") {
      assertNeverCommits[IllegalArgumentException](append)(_.add(new Array[Byte](12), 0, 12))
    }

    test(s"values that are $how and cannot be had end the transaction") {
      assertNeverCommits[NoSuchElementException](append)(_.fail(new NoSuchElementException))
    }
  }
}
