package io.holdfast.table

import java.nio.{ByteBuffer, ByteOrder}

import scala.collection.mutable

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

/** What an operator reads that removes what has expired, by patterns of real queries: the rows that it
  * removes and the rest of their pages.
  */
class EvictionCostSuite extends AnyFunSuite with SeededTests {
  import EvictionCostSuite._

  private def assertReadsPagesOfRemovedRows(query: Query): Assertion = {
    info(query.counts)
    assert(query.removed > 0)
    assert(query.pagesInVain === 0)
    assert(query.looked <= query.mostLooked)
  }

  // A page is read in vain where its least row was replaced since it was read last.
  private def assertReadsFewOthers(query: Query): Assertion = {
    info(query.counts)
    assert(query.removed > 0)
    assert(query.pagesInVain <= query.pagesRead / 20 + 2)
    assert(query.looked <= query.mostLooked + query.pagesInVain * mostRowsOfPage)
  }

  test("rows in the order of their times: expired ones and the rest of their pages are read") {
    val query = new Query
    (0L until 300L).foreach { now =>
      query.batch(inOrder(now), now * 1000 - 50000)
    }
    assertReadsPagesOfRemovedRows(query)
    assert(query.looked < 4 * query.removed)
  }

  test("batches in which nothing expires read no page, whatever is put") {
    val query = new Query
    (100L until 150L).foreach(now => query.batch(inOrder(now), upTo = 99999L))
    assert(query.removed === 0)
    assert(query.looked === 0)
    assert(query.pagesRead === 0)
  }

  seeded("rows that come in any order within a delay") { random =>
    val query = new Query
    (0L until 300L).foreach { now =>
      query.batch(
        inOrder(now).map { case (key, time) => key -> (time + random.nextInt(50000)) },
        now * 1000 - 50000)
    }
    assertReadsPagesOfRemovedRows(query)
  }

  seeded("events that each change twenty sliding windows") { random =>
    val query = new Query
    (0L until 400L).foreach { now =>
      val events = (1 to 50).flatMap { _ =>
        val group = random.nextInt(1000)
        (0L until 20L).map(window => (now / 5 + window) * 1000 + group -> (now / 5 + window) * 5)
      }
      query.batch(events, now - 5)
    }
    assertReadsFewOthers(query)
  }

  seeded("keys that are rewritten for ever, as sessions and timeouts are") { random =>
    Seq((100000, 50), (50000, 200)).foreach { case (keys, timeout) =>
      val query = new Query
      (0L until 500L).foreach { now =>
        query.batch(
          (1 to 1000).map(_ => random.nextInt(keys).toLong -> (now + timeout) * 1000),
          now * 1000)
      }
      assertReadsFewOthers(query)
    }
  }

  seeded("rows between which others were removed at random, until pages were emptied") { random =>
    val query = new Query
    (0L until 200L).foreach { now =>
      query.batch(inOrder(now), now * 1000 - 150000)
      query.remove((1 to 2000).map(_ => (now * 1000 - random.nextInt(150000)).max(0)))
    }
    assert(query.relocated > 0)
    assertReadsFewOthers(query)
  }

  test("a load knows the times of its rows") {
    val query = new Query
    (0L until 60L).foreach(now => query.batch(inOrder(now), upTo = -1L))
    val rows = query.version.cursor()
    query.version = Version.empty
    val load = query.version.open(eventTime = Some(inValue))
    while (rows.next()) {
      load.put(
        rows.page,
        RowRecord.keyOffset(rows.offset),
        RowRecord.keyLength(rows.page, rows.offset),
        rows.page,
        RowRecord.valueOffset(rows.page, rows.offset),
        RowRecord.valueLength(rows.page, rows.offset))
    }
    query.version = load.commit()
    query.batch(Nil, upTo = 2999L)
    assert(query.removed === 3000)
    assertReadsPagesOfRemovedRows(query)
  }

  test("times that are told later are known after one walk") {
    val query = new Query
    (0L until 60L).foreach(now => query.batch(inOrder(now), upTo = -1L))
    val other = EventTime(inKey = true, EventTime.Column(1, 0))
    query.version = Keys.changed(query.version)(_.cursorUpTo(other, 0L).close())
    val pages = query.version.pages.ids.count
    query.batch(Nil, upTo = -1L)
    assert(query.pagesRead === pages)
    query.batch(Nil, upTo = -1L)
    assert(query.pagesRead === pages)
  }

  test("a row that the operator keeps, and one without a time, are looked at again") {
    val query = new Query
    query.batch(inOrder(1), upTo = 0L)
    val kept = query.version.open()
    val cursor = kept.cursorUpTo(inValue, 1500L)
    while (cursor.next()) ()
    query.version = kept.commit()
    query.batch(Nil, upTo = 1500L)
    assert(query.removed === 501)
  }

  test("a late row that comes and goes does not hide a row that the operator keeps") {
    val query = new Query
    query.batch((0L until 10L).map(i => i -> i), upTo = -1L)
    val rows = query.version.open()
    val cursor = rows.cursorUpTo(inValue, 5L)
    while (cursor.next()) {
      val key = Bytes.getLong(cursor.page, RowRecord.keyOffset(cursor.offset))
      if (key != 0L) Keys.remove(rows, key)
    }
    query.put(rows, 100L, time = 5L)
    assert(Keys.has(rows, 100L))
    Keys.remove(rows, 100L)
    query.version = rows.commit()
    query.batch(Nil, upTo = 0L)
    assert(query.removed === 1)
  }

  test("what walks of transactions that were given up have found is forgotten") {
    val query = new Query
    query.batch(inOrder(1), upTo = 0L)
    val before = query.version
    query.batch(Nil, upTo = 1500L)
    query.version = before
    val givenUp = before.open()
    val cursor = givenUp.cursorUpTo(inValue, 1500L)
    while (cursor.next()) {
      givenUp.remove(
        cursor.page,
        RowRecord.keyOffset(cursor.offset),
        RowRecord.keyLength(cursor.page, cursor.offset))
    }
    givenUp.abort()
    query.batch(Nil, upTo = 1500L)
    assert(query.removed === 2 * 501)
  }

  private val rowsOfBatch = 1000L

  // Every other row of each page is none any more, so that the index has to be asked.
  private def withHoles(query: Query, batches: Long): Unit = {
    (0L until batches).foreach(now => query.batch(inOrder(now), upTo = -1L))
    (0L until batches).foreach { now =>
      query.batch(
        inOrder(now).filter(_._1 % 2 == 0).map { case (key, time) =>
          key -> (time + batches * rowsOfBatch)
        },
        upTo = -1L)
    }
  }

  test("pages that expire as a whole, one after the other, are taken for that without a look") {
    Seq(false, true).foreach { holes =>
      val query = new Query
      if (holes) withHoles(query, 20) else (0L until 40L).foreach(n => query.batch(inOrder(n), -1L))
      val rows = query.version.keyCount
      val shown = query.shown(upTo = 10 * rowsOfBatch - 1)
      // No page after the last of these has a row that has expired; it is left alone.
      assert(shown.expired === (if (holes) 5 else 10) * rowsOfBatch)
      assert(shown.later <= mostRowsOfPage)
      val all = query.shown(upTo = Long.MaxValue)
      assert(all.expired === rows)
      assert(all.later === 0)
    }
  }

  // Twenty batches in order, and forty of whose rows each fiftieth expires with the first.
  private def mixedLater(query: Query): Unit = {
    (0L until 20L).foreach(now => query.batch(inOrder(now), upTo = -1L))
    (20L until 60L).foreach { now =>
      val rows = inOrder(now).map { case (key, time) => key -> (if (key % 50 == 0) 1L else time) }
      query.batch(rows, upTo = -1L)
    }
  }

  test("where pages that expired as a whole are followed by others, few of their rows come along") {
    val query = new Query
    mixedLater(query)
    val shown = query.shown(upTo = 20 * rowsOfBatch)
    assert(shown.expired === 20 * rowsOfBatch + 40 * 20)
    assert(shown.later > 0)
    assert(shown.later <= 20 * rowsOfBatch)
  }

  test("rows that came along and stay are found when they have expired") {
    val query = new Query
    mixedLater(query)
    Seq(20L, 30L, 30L, 45L, 60L).foreach { upTo =>
      query.evict(upTo * rowsOfBatch)
      assert(query.version.keyCount === 980 * (60 - upTo))
    }
  }

  test("a walk that is refused the memory for the index shows the same rows") {
    val query = new Query
    withHoles(query, 20)
    val refusing = new RefusingMemory
    assert(query.shown(upTo = Long.MaxValue, refusing) === query.shown(upTo = Long.MaxValue))
    assert(refusing.refused > 0)
    assert(refusing.held === 0)
  }

  test("the times of rows take at most a fifth of a byte each") {
    val query = new Query
    (0L until 300L).foreach(now => query.batch(inOrder(now), upTo = -1L))
    val table = query.version.tables(0)
    assert(table.times.get.bytes < query.version.keyCount / 5)
    assert(HeapBytes.of(table.times.get) <= table.times.get.bytes + 200)
  }
}

object EvictionCostSuite {
  private val inValue = EventTime(inKey = false, EventTime.Column(1, 0))
  private val valueBytes = 40

  private def rowsOfPage(page: Array[Byte]): Long =
    page.length.toLong / RowRecord.size(Keys.bytes, valueBytes)

  private val mostRowsOfPage = rowsOfPage(new Array[Byte](Slot.MaxPageBytes))

  private def inOrder(now: Long): Seq[(Long, Long)] =
    (0L until 1000L).map(i => (now * 1000 + i) -> (now * 1000 + i))

  /** Rows that a walk up to a time shows: those that have come to it, and others. */
  final private case class Shown(expired: Long, later: Long)

  /** Batches of an operator that puts rows and then removes those that have expired. */
  final private class Query {
    var version: Version = Version.empty
    var looked = 0L
    var removed = 0L
    var pagesRead = 0L
    var relocated = 0L

    /** Rows in pages that had one that was removed. */
    var mostLooked = 0L

    /** Pages that were read and had none. */
    var pagesInVain = 0L

    private val value = ByteBuffer.allocate(valueBytes).order(ByteOrder.nativeOrder())

    def counts: String =
      s"$removed rows removed, $looked looked at in $pagesRead pages, $pagesInVain of which in vain"

    /** @param rows
      *   numbers and times
      */
    def batch(rows: Seq[(Long, Long)], upTo: Long): Unit = {
      val transaction = version.open(eventTime = Some(inValue))
      rows.foreach { case (key, time) => put(transaction, key, time) }
      val cursor = transaction.cursorUpTo(inValue, upTo)
      val pages = mutable.HashMap.empty[Int, Long]
      foreachExpired(cursor, upTo) {
        pages(System.identityHashCode(cursor.page)) = rowsOfPage(cursor.page)
        remove(transaction, cursor)
        removed += 1
      }
      looked += cursor.rowsLookedAt
      pagesRead += cursor.pagesLookedAt
      mostLooked += pages.values.sum
      pagesInVain += cursor.pagesLookedAt - pages.size
      version = transaction.commit()
      relocated += transaction.relocatedBytes
    }

    /** What a walk shows an operator, which tests it. */
    def shown(upTo: Long, memory: MemoryUse = MemoryUse.Unlimited): Shown = {
      val cursor = version.cursorUpTo(inValue, upTo, memory)
      var shown = Shown(0, 0)
      while (cursor.next()) {
        shown =
          if (inValue.of(cursor.page, cursor.offset) <= upTo)
            shown.copy(expired = shown.expired + 1)
          else shown.copy(later = shown.later + 1)
      }
      shown
    }

    /** Removes what has expired, as an operator does. */
    def evict(upTo: Long): Unit = {
      val transaction = version.open()
      val cursor = transaction.cursorUpTo(inValue, upTo)
      foreachExpired(cursor, upTo)(remove(transaction, cursor))
      version = transaction.commit()
    }

    // An operator tests what it is shown.
    private def foreachExpired(cursor: RowCursor, upTo: Long)(use: => Unit): Unit =
      while (cursor.next()) if (inValue.of(cursor.page, cursor.offset) <= upTo) use

    private def remove(rows: Transaction, cursor: RowCursor): Unit = rows.remove(
      cursor.page,
      RowRecord.keyOffset(cursor.offset),
      RowRecord.keyLength(cursor.page, cursor.offset))

    def put(rows: Transaction, key: Long, time: Long): Unit = {
      value.putLong(8, time)
      rows.put(Keys.key(key), 0, Keys.bytes, value.array, 0, value.capacity)
    }

    def remove(keys: Seq[Long]): Unit = {
      val transaction = version.open()
      keys.foreach(Keys.remove(transaction, _))
      version = transaction.commit()
      relocated += transaction.relocatedBytes
    }
  }
}
