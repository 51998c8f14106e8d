package io.holdfast.table

import java.lang.management.ManagementFactory

import com.sun.management.ThreadMXBean
import org.scalatest.funsuite.AnyFunSuite

/** What a walk costs the changes after it. */
class OpenCursorsSuite extends AnyFunSuite {
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]
  private val operations = 3000

  /** Heap bytes that an operation allocates, of many on a store of so many rows. */
  private def garbageOf(rows: Long)(operation: (Transaction, Long) => Unit): Long = {
    val base =
      Keys.changed(Version.empty(Some(ByKey)))(t => (0L until rows).foreach(Keys.put(t, _, 16)))
    val transaction = base.open()
    // The pieces that the rows lie in are copied once for the transaction, and not counted here.
    (0 until operations).foreach(i => Keys.put(transaction, i.toLong, 16))
    transaction.keyCount
    val before = threads.getThreadAllocatedBytes(Thread.currentThread.getId)
    (0 until operations).foreach(i => operation(transaction, i.toLong))
    transaction.keyCount
    val after = threads.getThreadAllocatedBytes(Thread.currentThread.getId)
    transaction.abort()
    (after - before) / operations
  }

  private def scan(rows: Transaction, key: Long): RowCursor =
    rows.scan(Some(Array(key / 16)), Some(Array(key / 16 + 1)))

  private def toTheEnd(cursor: RowCursor): Unit = while (cursor.next()) ()

  Seq(20000L, 300000L).foreach { rows =>
    test(s"a scan and a put after it make at most 1 kB of garbage in a store of $rows rows") {
      val garbage = garbageOf(rows) { (transaction, key) =>
        toTheEnd(scan(transaction, key))
        Keys.put(transaction, key, 16, 2)
      }
      assert(garbage <= 1024)
    }

    test(s"so do a scan that is closed early and a put after it in a store of $rows rows") {
      val garbage = garbageOf(rows) { (transaction, key) =>
        val cursor = scan(transaction, key)
        cursor.next()
        cursor.close()
        Keys.put(transaction, key, 16, 2)
      }
      assert(garbage <= 1024)
    }
  }

  test("so do a moment in which a row is looked up and a put after it") {
    val garbage = garbageOf(20000L) { (transaction, key) =>
      val moment = transaction.moment()
      val bytes = Keys.key(key)
      if (moment.find(bytes, 0, bytes.length) == Rows.Absent) fail()
      moment.close()
      Keys.put(transaction, key, 16, 2)
    }
    assert(garbage <= 1024)
  }

  test("a moment has the rows that there were, whatever becomes of its transaction") {
    val transaction =
      Keys.changed(Version.empty)(t => (0L until 200L).foreach(Keys.put(t, _, 16))).open()
    Keys.put(transaction, 1L, 16, 2)
    val moment = transaction.moment()
    (0L until 100L).foreach(Keys.remove(transaction, _))
    (100L until 400L).foreach(Keys.put(transaction, _, 16, 3))
    transaction.commit()
    (0L until 400L).foreach { number =>
      val key = Keys.key(number)
      val row = moment.find(key, 0, key.length)
      val found = Option.when(row != Rows.Absent) {
        moment.page(row)(RowRecord.valueOffset(moment.page(row), Rows.offset(row))).toInt
      }
      assert(found === Option.when(number < 200L)(if (number == 1L) 2 else 1))
    }
  }

  test("a closed walk shows nothing any more, and may be closed again") {
    val version =
      Keys.changed(Version.empty(Some(ByKey)))(t => (0L until 100L).foreach(Keys.put(t, _, 16)))
    Seq(version.cursor(), version.scan(None, None)).foreach { cursor =>
      assert(cursor.next())
      val (page, offset) = (cursor.page, cursor.offset)
      cursor.close()
      cursor.close()
      assert(!cursor.next())
      assert(RowRecord.keyLength(page, offset) === Keys.bytes)
    }
  }

  test("walks that nobody ends show their moment, however many there are") {
    val transaction = Keys
      .changed(Version.empty(Some(ByKey)))(t => (0L until 200L).foreach(Keys.put(t, _, 16)))
      .open()
    val walks = (0 until 50).map { i =>
      val walk = if (i % 2 == 0) transaction.cursor() else transaction.scan(None, None)
      walk.next()
      if (i % 5 == 0) Keys.remove(transaction, i.toLong)
      (walk, 200 - (i + 4) / 5 - 1)
    }
    transaction.commit()
    walks.foreach { case (walk, expected) =>
      assert(Iterator.continually(walk.next()).takeWhile(identity).size === expected)
    }
  }

  test("a walk counts what it holds, and gives it back at its end") {
    val version = Keys.changed(Version.empty)(t => (0L until 5000L).foreach(Keys.put(t, _, 40)))
    var held = 0L
    val memory = new MemoryUse {
      override def allocate(bytes: Long): Unit = held += bytes
      override def release(bytes: Long): Unit = held -= bytes
      override def holds(bytes: Long): Unit = held = bytes
    }
    Seq[RowCursor => Unit](toTheEnd, _.close()).foreach { end =>
      val cursor = version.cursor(memory)
      assert(held === 0L)
      cursor.next()
      assert(held * 64 >= version.liveBytes)
      end(cursor)
      assert(held === 0L)
    }
  }
}
