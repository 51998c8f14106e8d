package io.holdfast.table

import scala.util.Random

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

/** A batch that fails for want of memory, wherever it does, costs nothing but itself: the version it
  * started from stays whole, and so does what is built on that version afterwards.
  */
class AllocationFailureSuite extends AnyFunSuite with SeededTests {
  import AllocationFailureSuite._

  private def history(name: String, order: Option[RowOrder], keys: Int, changes: Int): Unit =
    seeded(s"$name: allocations all over a batch are refused") { random =>
      var version = Version.empty(order)
      var model = Map.empty[Long, Byte]
      (1 to 4).foreach { round =>
        val batch = Batch.random(random, keys, changes, round.toByte)
        val needed = new FailingMemory(Long.MaxValue)
        batch.run(version, needed)
        // How much a batch needs depends on how full the page is that it goes on filling.
        val surely = needed.asked * 9 / 10
        (1L to surely by math.max(1L, surely / 60)).foreach { at =>
          intercept[OutOfMemoryError](batch.run(version, new FailingMemory(at)))
          assertHolds(version, model)
        }
        version = batch.run(version, MemoryUse.Unlimited)
        model = batch.appliedTo(model)
        assertHolds(version, model)
      }
    }

  history("few keys", None, keys = 60, changes = 150)

  history("many keys, with rows moved out of sparse pages", None, keys = 9000, changes = 9000)

  history("keys in an order", Some(ByKey), keys = 3000, changes = 4000)

  seeded("a replay of several batches that fails leaves nothing behind") { random =>
    var version = Version.empty
    var model = Map.empty[Long, Byte]
    (1 to 3).foreach { _ =>
      val batches = (1 to 3).map(fill => Batch.random(random, 2000, 3000, fill.toByte))
      def replay(memory: MemoryUse): Version = {
        val rows = version.open(memory)
        try {
          batches.foreach { batch =>
            batch.change(rows)
            rows.compact()
          }
          rows.commit()
        } finally rows.abort()
      }
      val needed = new FailingMemory(Long.MaxValue)
      replay(needed)
      // How much a replay needs depends on how full the page is that it goes on filling.
      val surely = needed.asked * 9 / 10
      (1L to surely by math.max(1L, surely / 40)).foreach { at =>
        intercept[OutOfMemoryError](replay(new FailingMemory(at)))
        assertHolds(version, model)
      }
      version = replay(MemoryUse.Unlimited)
      batches.foreach(batch => model = batch.appliedTo(model))
      assertHolds(version, model)
    }
  }

  test("a transaction that failed takes nothing any more and never commits") {
    val base = Keys.changed(Version.empty)(rows => (0L until 100L).foreach(Keys.put(rows, _, 8)))
    val rows = base.open(new FailingMemory(2))
    intercept[OutOfMemoryError](while (true) Keys.put(rows, 1L, 8))
    Seq[() => Any](
      () => Keys.put(rows, 1L, 8),
      () => Keys.remove(rows, 1L),
      () => Keys.has(rows, 1L),
      () => rows.cursor(),
      () => rows.compact(),
      () => rows.commit()).foreach { use =>
      val e = intercept[IllegalStateException](use())
      assert(e.getMessage.contains("can only be aborted"))
      assert(e.getCause.isInstanceOf[OutOfMemoryError])
    }
    rows.abort()
    assertHolds(base, (0L until 100L).map(_ -> 1.toByte).toMap)
  }

  test("a transaction whose changes could not be told never commits, nor tells them again") {
    val base = Keys.changed(Version.empty)(rows => (0L until 2000L).foreach(Keys.put(rows, _, 8)))
    val needed = new FailingMemory(Long.MaxValue)
    def changes(memory: MemoryUse): Transaction = {
      val rows = base.open(memory)
      // Fewer than are collected before they are applied.
      (0L until 20L).foreach(key => Keys.put(rows, 97 * key, 8, 2))
      rows
    }
    changes(needed).abort()
    val before = needed.asked
    (1L to 5L).foreach { more =>
      val rows = changes(new FailingMemory(before + 3 * more))
      intercept[OutOfMemoryError](rows.changes().foreach(NoVisitor))
      intercept[IllegalStateException](rows.changes().foreach(NoVisitor))
      intercept[IllegalStateException](rows.commit())
      rows.abort()
      assertHolds(base, (0L until 2000L).map(_ -> 1.toByte).toMap)
    }
  }

  private def assertHolds(version: Version, model: Map[Long, Byte]): Assertion = {
    assert(TableInvariants.firstViolation(version) === None)
    assert(Keys.content(version) === model)
  }
}

object AllocationFailureSuite {
  private val valueBytes = 40

  /** Changes of a batch: puts, and removals where there is no value, with a walk in the middle. */
  final case class Batch(changes: Seq[(Long, Option[Byte])]) {

    def run(version: Version, memory: MemoryUse): Version = {
      val rows = version.open(memory)
      try {
        change(rows)
        walk(rows.cursor(memory))
        rows.changes().foreach(NoVisitor)
        rows.commit()
      } finally rows.abort()
    }

    def change(rows: Transaction): Unit =
      changes.zipWithIndex.foreach { case ((key, value), i) =>
        if (i == changes.size / 2) walkALittle(rows)
        value match {
          case Some(fill) => Keys.put(rows, key, valueBytes, fill)
          case None => Keys.remove(rows, key)
        }
      }

    def appliedTo(model: Map[Long, Byte]): Map[Long, Byte] =
      changes.foldLeft(model) {
        case (content, (key, Some(fill))) => content.updated(key, fill)
        case (content, (key, None)) => content - key
      }

    // A cursor that is left open makes later changes copy once more.
    private def walkALittle(rows: Transaction): Unit = {
      rows.cursor().next()
      ()
    }

    private def walk(cursor: RowCursor): Unit = while (cursor.next()) ()
  }

  object Batch {

    def random(random: Random, keys: Int, changes: Int, fill: Byte): Batch =
      Batch((1 to changes).map { _ =>
        random.nextInt(keys).toLong -> Option.when(random.nextInt(3) > 0)(fill)
      })
  }

  private object NoVisitor extends ChangeVisitor {
    override def put(page: Array[Byte], offset: Int): Unit = ()
    override def remove(page: Array[Byte], offset: Int): Unit = ()
  }
}
