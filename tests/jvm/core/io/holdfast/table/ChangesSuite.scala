package io.holdfast.table

import java.util.concurrent.{CountDownLatch, Executors, TimeUnit}

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

/** What a transaction gives out as its changes stays what it was, whatever comes afterwards. */
class ChangesSuite extends AnyFunSuite with SeededTests {
  import ChangesSuite._

  private def filled(): Version =
    Keys.changed(Version.empty)(t => (0L until rows).foreach(Keys.put(t, _, valueBytes)))

  // Changes rows all over a store, and says what the delta should have.
  private def change(transaction: Transaction, base: Map[Long, Byte], random: Random): Delta = {
    val delta = mutable.Map.empty[Long, Option[Byte]]
    (1 to 6000).foreach { _ =>
      val key = random.nextInt(rows.toInt + 2000).toLong
      if (random.nextInt(3) > 0) {
        val fill = random.nextInt(100).toByte
        Keys.put(transaction, key, valueBytes, fill)
        delta(key) = Some(fill)
      } else {
        Keys.remove(transaction, key)
        if (base.contains(key)) delta(key) = None else delta -= key
      }
    }
    delta.toMap
  }

  seeded("another thread tells them while rows move") { random =>
    val other = Executors.newSingleThreadExecutor()
    try {
      var version = filled()
      var moved = 0L
      (1 to 10).foreach { _ =>
        val transaction = version.open()
        val expected = change(transaction, Keys.content(version), random)
        val changes = transaction.changes()
        assert(changes.count === expected.size)
        val begun = new CountDownLatch(1)
        val told = other.submit[Seq[Delta]] { () =>
          begun.countDown()
          (1 to 5).map(_ => of(changes))
        }
        begun.await()
        version = transaction.commit()
        moved += transaction.relocatedBytes
        told.get(60, TimeUnit.SECONDS).foreach(delta => assert(delta === expected))
      }
      assert(moved > 0L)
    } finally other.shutdown()
  }

  seeded("they are the same after the commit, and when the next ones have used what it dropped") {
    random =>
      var version = filled()
      val told = (1 to 8).map { _ =>
        val transaction = version.open()
        val expected = change(transaction, Keys.content(version), random)
        val changes = transaction.changes()
        version = transaction.commit()
        assert(of(changes) === expected)
        changes -> expected
      }
      told.foreach { case (changes, expected) => assert(of(changes) === expected) }
  }

  seeded("they are the same after an abort, when the next transaction has filled its page") {
    random =>
      val base = filled()
      val transaction = base.open()
      val expected = change(transaction, Keys.content(base), random)
      val changes = transaction.changes()
      transaction.abort()
      change(base.open(), Keys.content(base), random)
      assert(of(changes) === expected)
  }

  test("who has given them out takes no more, and can be read, committed and aborted") {
    Seq[Transaction => Any](_.commit(), _.abort()).foreach { end =>
      val base = filled()
      val transaction = base.open()
      Keys.put(transaction, 1L, valueBytes, 2)
      val changes = transaction.changes()
      Seq[Transaction => Unit](Keys.put(_, 2L, valueBytes), Keys.remove(_, 2L), _.compact())
        .foreach { use =>
          // What is refused in the middle of a call could only be aborted.
          val refused = base.open()
          refused.changes()
          val e = intercept[IllegalStateException](use(refused))
          assert(e.getMessage.contains("given out its changes"))
          refused.abort()
        }
      assert(Keys.fill(transaction, 1L) === 2)
      end(transaction)
      assert(of(changes) === Map(1L -> Some(2.toByte)))
      intercept[IllegalStateException](transaction.changes())
    }
  }

  test("rows of filled pages are told while the transaction goes on, and first of all changes") {
    val early = new Early
    val transaction = filled().open(early = Some(early))
    // Each key once, more of them than a page has room for.
    (0L until 20000L).foreach(Keys.put(transaction, _, valueBytes, 3))
    (20000L until 20100L).foreach(Keys.remove(transaction, _))
    val changes = transaction.changes()
    assert(early.keys.size > 15000 && early.keys.size < 20000)
    assert(early.voids === 0)
    val late = ordered(changes.foreachLate)
    assert(late.take(100).forall(_._2.isEmpty))
    assert(early.keys.map(_ -> Some(3.toByte)) ++ late === ordered(changes.foreach))
    assert(of(changes).size === 20100)
  }

  private val again: Seq[(String, Transaction => Unit)] =
    Seq("replaced" -> (Keys.put(_, 7L, valueBytes, 4)), "removed" -> (Keys.remove(_, 7L)))

  for ((how, change) <- again)
    test(s"a row that was told early and is $how makes what was told void, and the order another") {
      val early = new Early
      val transaction = filled().open(early = Some(early))
      (0L until 20000L).foreach(Keys.put(transaction, _, valueBytes, 3))
      Keys.remove(transaction, 39000L)
      val told = early.keys.size
      assert(told > 15000)
      change(transaction)
      (25000L until 35000L).foreach(Keys.put(transaction, _, valueBytes, 3))
      val changes = transaction.changes()
      assert(early.keys.size === told)
      assert(early.voids === 1)
      val all = ordered(changes.foreach)
      assert(all === ordered(changes.foreachLate))
      assert(all.head._2.isEmpty)
      assert(of(changes).size === 30001)
      assert(Keys.content(transaction.commit()).get(7L) === of(changes)(7L))
    }

  test("what a visitor throws is no failure of the transaction") {
    val transaction = filled().open()
    Keys.put(transaction, 1L, valueBytes, 2)
    val changes = transaction.changes()
    intercept[NumberFormatException](changes.foreach(new ChangeVisitor {
      override def put(page: Array[Byte], offset: Int): Unit = throw new NumberFormatException
      override def remove(page: Array[Byte], offset: Int): Unit = ()
    }))
    assert(of(changes) === Map(1L -> Some(2.toByte)))
    assert(Keys.fill(transaction.commit(), 1L) === 2)
  }
}

object ChangesSuite {
  private val rows = 40000L
  private val valueBytes = 48

  /** Keys with the first byte of their new value, or none if they were removed. */
  type Delta = Map[Long, Option[Byte]]

  /** Notes the keys of rows that are told early. */
  private final class Early extends EarlyRows {
    var keys: Vector[Long] = Vector.empty
    var voids = 0

    override def filled(rows: WrittenRows): Unit = keys ++= ordered(rows.foreach).map(_._1)

    override def void(): Unit = voids += 1
  }

  /** What a visitor is told, in order. */
  private def ordered(tell: ChangeVisitor => Unit): Vector[(Long, Option[Byte])] = {
    var told = Vector.empty[(Long, Option[Byte])]
    def key(page: Array[Byte], offset: Int) = Bytes.getLong(page, RowRecord.keyOffset(offset))
    tell(new ChangeVisitor {
      override def put(page: Array[Byte], offset: Int): Unit =
        told :+= key(page, offset) -> Some(page(RowRecord.valueOffset(page, offset)))
      override def remove(page: Array[Byte], offset: Int): Unit = told :+= key(page, offset) -> None
    })
    told
  }

  private def of(changes: Changes): Delta = {
    val delta = mutable.Map.empty[Long, Option[Byte]]
    def add(page: Array[Byte], offset: Int, fill: Option[Byte]): Unit = {
      val key = Bytes.getLong(page, RowRecord.keyOffset(offset))
      if (delta.put(key, fill).isDefined) throw new AssertionError(s"key $key was told twice")
    }
    changes.foreach(new ChangeVisitor {
      override def put(page: Array[Byte], offset: Int): Unit =
        add(page, offset, Some(page(RowRecord.valueOffset(page, offset))))
      override def remove(page: Array[Byte], offset: Int): Unit = add(page, offset, None)
    })
    delta.toMap
  }
}
