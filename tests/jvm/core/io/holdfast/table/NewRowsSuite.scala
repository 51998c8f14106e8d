package io.holdfast.table

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

/** Rows that are put into a table without rows, and indexed together. */
class NewRowsSuite extends AnyFunSuite {
  private val valueBytes = 16

  // Below and above what one bucket holds, what 256 buckets hold, and what they hold twice.
  private val sizes = Seq(0L, 1L, 44L, 45L, 89L, 1000L, 11264L, 11265L, 60000L)

  sizes.foreach { rows =>
    test(s"a first batch of $rows rows is a whole version") {
      val version =
        Keys.changed(Version.empty)(t => (0L until rows).foreach(Keys.put(t, _, valueBytes)))
      assert(TableInvariants.firstViolation(version) === None)
      assert(version.keyCount === rows)
      assert((0L until rows).forall(Keys.has(version, _)))
      assert(!(rows until rows + 1000).exists(Keys.has(version, _)))
    }

    test(s"of $rows rows that are put again, the last is kept and told") {
      val transaction = Version.empty.open()
      (0L until rows).foreach(Keys.put(transaction, _, valueBytes, 1))
      (0L until rows by 3).foreach(Keys.put(transaction, _, valueBytes, 2))
      def expected(key: Long): Int = if (key % 3 == 0) 2 else 1
      assert(changesOf(transaction) === (0L until rows).map(k => k -> expected(k)).toMap)
      assert(transaction.changeCount === rows)
      val version = transaction.commit()
      assert(TableInvariants.firstViolation(version) === None)
      assert((0L until rows).forall(k => Keys.fill(version, k) == expected(k)))
    }
  }

  test("a version that grows from a first batch stays whole") {
    var version =
      Keys.changed(Version.empty)(t => (0L until 20000L).foreach(Keys.put(t, _, valueBytes)))
    (1L to 8L).foreach { batch =>
      version = Keys.changed(version) { t =>
        (0L until 5000L).foreach(k => Keys.put(t, 20000L * batch + k, valueBytes))
        (0L until 2000L).foreach(k => Keys.remove(t, 7 * batch * k))
      }
      assert(TableInvariants.firstViolation(version) === None)
    }
  }

  test("few keys that are put over and over have a small index") {
    val once = Keys.changed(Version.empty)(t => (0L until 50L).foreach(Keys.put(t, _, valueBytes)))
    val often = Keys.changed(Version.empty) { t =>
      (1 to 1000).foreach(fill => (0L until 50L).foreach(Keys.put(t, _, valueBytes, fill.toByte)))
    }
    assert(TableInvariants.firstViolation(often) === None)
    assert((0L until 50L).forall(Keys.fill(often, _) == 1000.toByte))
    assert(often.tables(0).index.bytes === once.tables(0).index.bytes)
  }

  test("removals and reads see the new rows, and rows go on being put") {
    val transaction = Version.empty.open()
    Keys.remove(transaction, 1L)
    Keys.put(transaction, 1L, valueBytes)
    assert(Keys.has(transaction, 1L))
    transaction.commit()

    val other = Version.empty.open()
    (0L until 300L).foreach(Keys.put(other, _, valueBytes))
    val cursor = other.cursor()
    Keys.remove(other, 7L)
    (300L until 400L).foreach(Keys.put(other, _, valueBytes))
    assert(Iterator.continually(cursor.next()).takeWhile(identity).size === 300)
    val version = other.commit()
    assert(TableInvariants.firstViolation(version) === None)
    assert(version.keyCount === 399)
    assert(!Keys.has(version, 7L))
  }

  test("a table whose rows were all removed is filled again") {
    val emptied = Keys.changed {
      Keys.changed(Version.empty)(t => (0L until 3000L).foreach(Keys.put(t, _, valueBytes)))
    }(t => (0L until 3000L).foreach(Keys.remove(t, _)))
    val transaction = emptied.open()
    (1000L until 9000L).foreach(Keys.put(transaction, _, valueBytes))
    assert(transaction.ownBytes > 0L)
    val version = transaction.commit()
    assert(TableInvariants.firstViolation(version) === None)
    assert(version.keyCount === 8000)
    assert(Version.heldBytes(Seq(emptied, version)) >= version.heldBytes)
  }

  private def changesOf(transaction: Transaction): Map[Long, Int] = {
    val changes = mutable.Map.empty[Long, Int]
    transaction
      .changes()
      .foreach(new ChangeVisitor {
        override def remove(page: Array[Byte], offset: Int): Unit =
          fail("no row of the base was removed")
        override def put(page: Array[Byte], offset: Int): Unit = {
          val key = Bytes.getLong(page, RowRecord.keyOffset(offset))
          val value = page(RowRecord.valueOffset(page, offset)).toInt
          val before = changes.put(key, value)
          if (before.isDefined) fail(s"key $key was told twice")
        }
      })
    changes.toMap
  }
}
