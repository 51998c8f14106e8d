package io.holdfast.table

import scala.collection.mutable

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

/** A transaction that lasts, and changes the same keys again and again, needs no more memory for that. */
class LongTransactionSuite extends AnyFunSuite with SeededTests {
  import LongTransactionSuite._

  private val base = Keys.changed(Version.empty) { transaction =>
    (0L until Rows).foreach(Keys.put(transaction, _, ValueBytes))
  }

  // Twice what is live, beside the bound that every transaction has, and what was told to the memory.
  private def assertBounded(rows: Transaction, memory: Counted, more: Long = 0L): Assertion = {
    val bound = 3L * rows.liveBytes + 2L * OwnPages.SlackBytes + more
    assert(rows.ownBytes <= bound, s"for ${rows.liveBytes} live bytes")
    assert(memory.most <= bound, s"for ${rows.liveBytes} live bytes")
  }

  private def changesOf(rows: Transaction): (Map[Long, Byte], Set[Long]) = {
    val fills = mutable.Map.empty[Long, Byte]
    val removed = mutable.Set.empty[Long]
    rows
      .changes()
      .foreach(new ChangeVisitor {
        override def put(page: Array[Byte], offset: Int): Unit = {
          val fill = page(RowRecord.valueOffset(page, offset))
          assert(fills.put(keyAt(page, offset), fill) === None)
          ()
        }
        override def remove(page: Array[Byte], offset: Int): Unit = {
          assert(removed.add(keyAt(page, offset)))
          ()
        }
      })
    (fills.toMap, removed.toSet)
  }

  private def rewritten(from: Version, more: Long = 0L)(at: Int => Long): Assertion = {
    val memory = new Counted
    val rows = from.open(memory)
    val expected = mutable.Map.empty[Long, Byte]
    (1 to Puts).foreach { i =>
      val key = at(i)
      Keys.put(rows, key, ValueBytes, (i % 100).toByte)
      expected(key) = (i % 100).toByte
    }
    assertBounded(rows, memory, more)
    assert(changesOf(rows) === ((expected.toMap, Set.empty[Long])))
    val version = rows.commit()
    assert(TableInvariants.firstViolation(version) === None)
    val before = Keys.content(from)
    assert(Keys.content(version) === before ++ expected)
  }

  test("keys that are put in turn")(rewritten(base)(i => i % Rows))

  seeded("keys that are put at random") { random =>
    rewritten(base)(_ => (random.nextDouble() * Rows).toLong)
  }

  // Each page keeps some row that is never put again.
  seeded("keys some of which are put seldom and others all the time") { random =>
    rewritten(base)(_ => (math.pow(random.nextDouble(), 6) * Rows).toLong)
  }

  test("one key")(rewritten(base)(_ => 7L))

  // Nobody looks for a row before it is put: rows are collected for a while, and their slots.
  test("keys of a store that had none") {
    rewritten(Version.empty, more = 2L * Transaction.MostNewBytes)(i => i % 1000L)
  }

  test("rows above the size of pages") {
    val memory = new Counted
    val rows = base.open(memory)
    (1 to 800).foreach(i => Keys.put(rows, i % 5L, 200000, (i % 100).toByte))
    // Those whose changes wait to be applied together are there, too.
    assert(memory.most <= 3L * (5 + 32) * 200000 + 2L * OwnPages.SlackBytes)
    val (put, removed) = changesOf(rows)
    assert(put === (796 to 800).map(i => i % 5L -> (i % 100).toByte).toMap)
    assert(removed.isEmpty)
    assert(Keys.fill(rows.commit(), 0) === 0)
  }

  seeded("keys that are put and removed: those of the base that are gone are told once") { random =>
    val memory = new Counted
    val rows = base.open(memory)
    val model = mutable.Map.from(Keys.content(base))
    val put = mutable.Set.empty[Long]
    (1 to Puts).foreach { i =>
      val key = (random.nextDouble() * 2 * Rows).toLong
      put += key
      if (random.nextInt(3) == 0) {
        Keys.remove(rows, key)
        model -= key
      } else {
        Keys.put(rows, key, ValueBytes, (i % 100).toByte)
        model(key) = (i % 100).toByte
      }
    }
    assertBounded(rows, memory)
    val (told, removed) = changesOf(rows)
    assert(removed === (0L until Rows).filterNot(model.contains).toSet)
    assert(told === model.view.filterKeys(put).toMap)
    val version = rows.commit()
    assert(TableInvariants.firstViolation(version) === None)
    assert(Keys.content(version) === model)
  }

  test("a walk that began before shows its moment to the end") {
    val rows = base.open()
    Keys.put(rows, 0, ValueBytes, 9)
    val walk = rows.cursor()
    assert(walk.next())
    var seen = 1
    (1 to Puts).foreach { i =>
      Keys.put(rows, i % Rows, ValueBytes, 3)
      if (i % (Puts / Rows.toInt) == 0 && walk.next()) {
        val fill = walk.page(RowRecord.valueOffset(walk.page, walk.offset))
        assert(fill === (if (keyAt(walk.page, walk.offset) == 0L) 9 else 1))
        seen += 1
      }
    }
    while (walk.next()) seen += 1
    assert(seen === Rows)
  }

  test("pages stay while another thread may have found a row in one") {
    val memory = new Counted
    val rows = base.open(memory)
    Keys.put(rows, 0, ValueBytes, 2)
    var found = 0
    val other = new Thread(() => found = Keys.fill(rows, 0).toInt)
    other.start()
    other.join()
    assert(found === 2)
    (1 to Puts).foreach(i => Keys.put(rows, i % 10L, ValueBytes, 3))
    assert(rows.ownBytes > Puts.toLong * ValueBytes)
  }

  test("pages go in the hands of the thread that a transaction was begun for") {
    val memory = new Counted
    val rows = base.open(memory)
    Keys.put(rows, 0, ValueBytes, 2)
    rows.handOver()
    val other = new Thread(() => (1 to Puts).foreach(i => Keys.put(rows, i % 10L, ValueBytes, 3)))
    other.start()
    other.join()
    assertBounded(rows, memory)
    val version = rows.commit()
    assert(TableInvariants.firstViolation(version) === None)
    assert((0L until 10L).forall(Keys.fill(version, _) == 3))
  }

  test("pages stay when who has handed over comes back") {
    val rows = base.open(new Counted)
    Keys.put(rows, 0, ValueBytes, 2)
    rows.handOver()
    val other = new Thread(() => Keys.put(rows, 1, ValueBytes, 2))
    other.start()
    other.join()
    (1 to Puts).foreach(i => Keys.put(rows, i % 10L, ValueBytes, 3))
    assert(rows.ownBytes > Puts.toLong * ValueBytes)
  }
}

object LongTransactionSuite {
  private val Rows = 5000L
  private val ValueBytes = 48
  private val Puts = 1000000

  private def keyAt(page: Array[Byte], offset: Int): Long =
    Bytes.getLong(page, RowRecord.keyOffset(offset))

  /** What a transaction was counted with at most. */
  private final class Counted extends MemoryUse {
    private var counted = 0L
    var most = 0L

    override def allocate(bytes: Long): Unit = set(counted + bytes)
    override def release(bytes: Long): Unit = set(counted - bytes)
    override def holds(bytes: Long): Unit = set(bytes)

    private def set(bytes: Long): Unit = {
      counted = bytes
      most = math.max(most, bytes)
    }
  }
}
