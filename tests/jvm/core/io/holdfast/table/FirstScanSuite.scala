package io.holdfast.table

import scala.util.Random

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

/** The order of a table other than the first, which the first transaction that scans it makes. */
class FirstScanSuite extends AnyFunSuite with SeededTests {
  private val table = 2

  private def rows(of: Transaction): TableWriter = of.table(table, Some(ByKey))

  private def put(of: Transaction, numbers: Iterable[Long]): Unit = numbers.foreach { number =>
    rows(of).put(Keys.key(number), 0, Keys.bytes, Keys.key(number), 0, Keys.bytes)
  }

  private def remove(of: Transaction, numbers: Iterable[Long]): Unit =
    numbers.foreach(number => rows(of).remove(Keys.key(number), 0, Keys.bytes))

  private def changed(from: Version)(change: Transaction => Any): Version = {
    val version = Keys.changed(from) { transaction =>
      val _ = change(transaction)
    }
    assert(TableInvariants.firstViolation(version) === None)
    version
  }

  private def numbers(cursor: ScanCursor): Seq[Long] = {
    val found = Iterator
      .continually(cursor.next())
      .takeWhile(identity)
      .map(_ => Bytes.getLong(cursor.page, RowRecord.keyOffset(cursor.offset)))
      .toSeq
    // Rows of sixteen numbers are alike.
    assert(found.map(_ / 16) === found.map(_ / 16).sorted)
    found.sorted
  }

  private def scanned(of: Rows): Seq[Long] = numbers(of.scan(None, None))

  private def hasOrder(version: Version): Boolean = version.tables(table).ordered.isDefined

  private def assertCountsAdd(before: Version, after: Version): Assertion =
    assert(after.heldBytes === before.heldBytes - after.replacedBytes + after.addedBytes)

  private val loaded = changed(Version.empty)(put(_, 0L until 5000L))

  test("a table that nobody scans has no order and holds nothing for it") {
    val more = changed(loaded) { transaction =>
      put(transaction, 4000L until 6000L)
      remove(transaction, 0L until 100L)
    }
    assert(!hasOrder(loaded) && !hasOrder(more))
    val alike = Keys.changed(Version.empty)(t => (0L until 5000L).foreach(Keys.put(t, _, 8)))
    val numberOfTable = 8L * 5000
    assert(math.abs(loaded.heldBytes - alike.heldBytes - numberOfTable) < 50000)
  }

  test(
    "the first scan makes it, among changes, and what comes of the transaction goes on with it") {
    val first = changed(loaded) { transaction =>
      put(transaction, 5000L until 5100L)
      remove(transaction, 0L until 50L)
      assert(scanned(rows(transaction)) === (50L until 5100L))
      put(transaction, 5100L until 5200L)
      remove(transaction, 50L until 70L)
      assert(scanned(rows(transaction)) === (70L until 5200L))
    }
    assert(hasOrder(first) && !hasOrder(loaded))
    assertCountsAdd(loaded, first)
    val second = changed(first) { transaction =>
      put(transaction, 0L until 10L)
      remove(transaction, 100L until 5000L)
    }
    assert(hasOrder(second))
    assertCountsAdd(first, second)
    assert(
      scanned(second.table(table)) === (0L until 10L) ++ (70L until 100L) ++ (5000L until 5200L))
  }

  test("a scan of a table without rows makes it as well, for what comes afterwards") {
    val version = changed(Version.empty) { transaction =>
      assert(scanned(rows(transaction)).isEmpty)
      put(transaction, 0L until 300L)
      remove(transaction, 0L until 100L)
      assert(scanned(rows(transaction)) === (100L until 300L))
    }
    assert(hasOrder(version))
  }

  test("a transaction that comes to nothing leaves none behind") {
    val transaction = loaded.open()
    assert(scanned(rows(transaction)).size === 5000)
    transaction.abort()
    assert(!hasOrder(loaded) && !hasOrder(changed(loaded)(put(_, Seq(9999L)))))
  }

  test("readers of a version scan what no transaction has scanned, and leave it as it is counted") {
    val held = loaded.heldBytes
    val reader = loaded.table(table)
    assert(numbers(reader.scan(Some(Array(10L)), Some(Array(20L)))) === (160L until 320L))
    assert(scanned(reader) === (0L until 5000L))
    assert(!hasOrder(loaded))
    assert(loaded.heldBytes === held)
  }

  test("a table without an order refuses to be scanned, in a version and in a transaction") {
    val version = Keys.changed(Version.empty) { transaction =>
      transaction.table(table).put(Keys.key(1L), 0, Keys.bytes, Keys.key(1L), 0, Keys.bytes)
    }
    val transaction = version.open()
    Seq(version.table(table), transaction.table(table)).foreach { rows =>
      assert(
        intercept[IllegalStateException](rows.scan(None, None)).getMessage
          .contains("without an order"))
    }
    transaction.abort()
  }

  test("what it takes is told, and no more is told once it is made") {
    val memory = new RefusingMemory(Long.MaxValue / 2)
    val transaction = loaded.open(memory)
    assert(scanned(rows(transaction)).size === 5000)
    assert(memory.held === transaction.ownBytes)
    val made = transaction.commit()
    assert(hasOrder(made))
    assert(made.heldBytes - loaded.heldBytes === made.tables(table).ordered.get.bytes)
  }

  test("nodes that were made for it are the transaction's own, and not copied by what it changes") {
    val order = changed(loaded)(transaction => scanned(rows(transaction))).tables(table).ordered.get
    def copiedFor(base: Version): Long = {
      val memory = new RefusingMemory(Long.MaxValue / 2)
      val transaction = base.open(memory)
      scanned(rows(transaction))
      val before = memory.held
      remove(transaction, 0L until 5000L by 10L)
      assert(rows(transaction).keyCount === 4500L)
      val copied = memory.held - before
      transaction.abort()
      copied
    }
    val scannedBefore = changed(loaded)(transaction => scanned(rows(transaction)))
    assert(copiedFor(loaded) < copiedFor(scannedBefore) - order.bytes / 2)
  }

  test("readers that make it say what it takes, and are refused it where there is no room") {
    val memory = new RefusingMemory(Long.MaxValue / 2)
    val reader = loaded.table(table, scans = memory)
    assert(memory.held === 0L)
    assert(scanned(reader) === (0L until 5000L))
    val made = memory.held
    assert(made > 16L * 5000)
    assert(scanned(reader) === (0L until 5000L))
    assert(memory.held === made)
    val refused = loaded.table(table, scans = new RefusingMemory(made - 1))
    intercept[IllegalStateException](refused.scan(None, None))
  }

  test("keys that come back after their removal are counted nowhere once rows have moved") {
    val version = changed(loaded) { transaction =>
      remove(transaction, 0L until 3000L)
      put(transaction, 0L until 3000L)
    }
    assertCountsAdd(loaded, version)
  }

  test("memory that is refused while it is made costs the transaction alone") {
    val needed = new FailingMemory(Long.MaxValue)
    val whole = loaded.open(needed)
    assert(scanned(rows(whole)).size === 5000)
    whole.abort()
    assert(needed.asked > 15L)
    (1L to needed.asked).foreach { at =>
      val transaction = loaded.open(new FailingMemory(at))
      intercept[OutOfMemoryError](rows(transaction).scan(None, None))
      assert(
        intercept[IllegalStateException](transaction.commit()).getMessage.contains("failed before"))
      transaction.abort()
    }
    assert(TableInvariants.firstViolation(loaded) === None)
    assert(scanned(loaded.table(table)) === (0L until 5000L))
  }

  seeded("it is the same whenever it is made") { random =>
    (1 to 20).foreach { _ =>
      val scans = random.nextInt(12)
      var expected = (0L until 5000L).toSet
      var version = loaded
      (0 until 6).foreach { round =>
        version = changed(version) { transaction =>
          (0 until 2).foreach { half =>
            val (come, go) = (draw(random), draw(random))
            put(transaction, come)
            remove(transaction, go)
            expected = expected ++ come -- go
            if (2 * round + half == scans) {
              assert(scanned(rows(transaction)) === expected.toSeq.sorted)
            }
          }
        }
        assert(hasOrder(version) === (2 * round + 1 >= scans))
      }
      assert(scanned(version.table(table)) === expected.toSeq.sorted)
    }
  }

  private def draw(random: Random): Seq[Long] = Seq.fill(200)(random.nextInt(6000).toLong)
}
