package io.holdfast.table

import java.util.{Collections, IdentityHashMap}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/** What several versions and transactions share, and what they do not. */
class VersionSuite extends AnyFunSuite {
  private val valueBytes = 24

  private def filled(rows: Long): Version =
    Keys.changed(Version.empty)(t => (0L until rows).foreach(Keys.put(t, _, valueBytes)))

  test("two transactions on one version write pages of their own") {
    val base = filled(100)
    val one = base.open()
    val other = base.open()
    (100L until 200L).foreach(Keys.put(one, _, valueBytes, 2))
    (100L until 200L).foreach(Keys.put(other, _, valueBytes, 3))
    val (first, second) = (one.commit(), other.commit())
    Seq(base, first, second).foreach(v => assert(TableInvariants.firstViolation(v) === None))
    assert((100L until 200L).forall(Keys.fill(first, _) == 2))
    assert((100L until 200L).forall(Keys.fill(second, _) == 3))
    assert(!Keys.has(base, 100L))
  }

  test("versions one after another fill the same page") {
    var version = filled(10)
    val pages = version.pages.ids
    (10L until 30L).foreach(n => version = Keys.changed(version)(Keys.put(_, n, valueBytes)))
    assert(version.pages.ids.end === pages.end)
    assert(TableInvariants.firstViolation(version) === None)
  }

  test("an aborted transaction leaves its version bit for bit, but for a hint in its records") {
    val base = filled(2000)
    def image: (Long, Long, Long, Seq[Seq[Byte]]) = {
      val cursor = base.cursor()
      val rows = Iterator
        .continually(cursor.next())
        .takeWhile(identity)
        .map { _ =>
          val size = RowRecord.sizeAt(cursor.page, cursor.offset)
          val record = cursor.page.slice(cursor.offset, cursor.offset + size)
          // What the attempt gave up stays marked, as every record is here.
          RowRecord.giveUp(record, 0)
          record.toSeq
        }
        .toSeq
      (base.keyCount, base.liveBytes, base.heldBytes, rows)
    }
    val before = image
    val transaction = base.open()
    (0L until 3000L).foreach(Keys.put(transaction, _, valueBytes, 9))
    (0L until 1000L).foreach(Keys.remove(transaction, _))
    transaction.abort()
    assert(image === before)
    assert(TableInvariants.firstViolation(base) === None)
    // The page is free for the next transaction, behind what the aborted one wrote.
    val next = Keys.changed(base)(Keys.put(_, 5000L, valueBytes))
    assert(TableInvariants.firstViolation(next) === None)
  }

  test("a transaction that has ended takes no changes") {
    val committed = Version.empty.open()
    committed.commit()
    val aborted = Version.empty.open()
    aborted.abort()
    aborted.abort()
    Seq(committed, aborted).foreach { ended =>
      intercept[IllegalStateException](Keys.put(ended, 1L, valueBytes))
      intercept[IllegalStateException](Keys.remove(ended, 1L))
      intercept[IllegalStateException](ended.commit())
    }
  }

  test("rows beyond the size limits are refused with the limits") {
    val rows = Version.empty.open()
    val e = intercept[IllegalArgumentException] {
      rows.put(new Array[Byte](8), 0, RowRecord.MaxKeyBytes + 1, new Array[Byte](8), 0, 8)
    }
    assert(e.getMessage.contains(s"${RowRecord.MaxKeyBytes}"))
    assert(rows.keyCount === 0)
  }

  test("the bytes of several versions are those of their distinct arrays") {
    var versions = Vector(filled(20000))
    (1 to 4).foreach { round =>
      versions = versions :+ Keys.changed(versions.last) { t =>
        (0L until 3000L).foreach(n => Keys.put(t, n * round, valueBytes, round.toByte))
      }
    }
    (1 to versions.size).foreach { count =>
      val held = versions.takeRight(count)
      val counted = Version.heldBytes(held).toDouble
      val walked = distinctBytes(held).toDouble
      assert(math.abs(counted - walked) / walked < 0.02, s"$counted counted, $walked walked")
    }
  }

  // Buckets, segments and pages by identity: what a heap dump would show.
  private def distinctBytes(versions: Seq[Version]): Long = {
    val arrays = Collections.newSetFromMap(new IdentityHashMap[AnyRef, java.lang.Boolean]())
    def add(array: AnyRef): Unit = if (array != null) { arrays.add(array); () }
    versions.foreach { version =>
      version.pages.table.pages.foreach { segment =>
        add(segment)
        segment.foreach(add)
      }
      version.pages.table.facts.foreach(add)
      version.tables(0).index.segments.foreach { segment =>
        add(segment)
        segment.foreach(add)
      }
    }
    arrays.asScala.iterator.map {
      case bytes: Array[Byte] => 16L + bytes.length
      case longs: Array[Long] => 16L + 8L * longs.length
      case ints: Array[Int] => 16L + 4L * ints.length
      case references: Array[AnyRef] => 16L + 4L * references.length
      case other => throw new IllegalStateException(s"unexpected ${other.getClass}")
    }.sum
  }
}
