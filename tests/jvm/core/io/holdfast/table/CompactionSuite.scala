package io.holdfast.table

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

/** Memory of rows that were overwritten or removed is given back. */
class CompactionSuite extends AnyFunSuite with SeededTests {
  private val rows = 40000L
  private val valueBytes = 48

  private def filled(order: Option[RowOrder] = None): Version =
    Keys.changed(Version.empty(order)) { transaction =>
      (0L until rows).foreach(Keys.put(transaction, _, valueBytes))
    }

  private def checked(version: Version): Version = {
    assert(TableInvariants.firstViolation(version) === None)
    version
  }

  private def assertBounded(version: Version): Assertion = {
    val pages = version.pages
    assert(
      pages.pageBytes <= 2 * pages.liveBytes + 2 * Slot.MaxPageBytes,
      s"${pages.pageBytes} bytes held for ${pages.liveBytes}")
  }

  seeded("pages hold less than twice what is live while rows are rewritten at random") { random =>
    var version = filled()
    (1 to 60).foreach { round =>
      version = checked(Keys.changed(version) { transaction =>
        (1 to 2000).foreach { _ =>
          Keys.put(transaction, (random.nextDouble() * rows).toLong, valueBytes, round.toByte)
        }
      })
      assert(version.keyCount === rows)
      assertBounded(version)
    }
  }

  seeded("rewriting all rows in one transaction, again and again, needs no more pages") { random =>
    var version = filled()
    val order = random.shuffle((0L until rows).toVector)
    (1 to 10).foreach { round =>
      version = Keys.changed(version) { transaction =>
        order.foreach(Keys.put(transaction, _, valueBytes, round.toByte))
      }
      assertBounded(version)
    }
    checked(version)
    assert((0L until rows).forall(Keys.fill(version, _) == 10))
  }

  seeded("a store that shrinks gives pages and index back") { random =>
    val full = filled()
    val keys = random.shuffle((0L until rows).toVector)
    var version = full
    keys.grouped(4000).foreach { group =>
      version = checked(Keys.changed(version)(rows => group.foreach(Keys.remove(rows, _))))
      assertBounded(version)
    }
    assert(version.keyCount === 0)
    assert(version.liveBytes === 0)
    assert(version.pages.pageBytes <= 2 * Slot.MaxPageBytes)
    assert(version.tables(0).index.bytes * 20 < full.tables(0).index.bytes)
    assert(version.tables(0).index.depth < full.tables(0).index.depth)
  }

  seeded("relocation moves rows of an ordered store with their entries") { random =>
    var version = filled(Some(ByKey))
    (1 to 12).foreach { round =>
      version = checked(Keys.changed(version) { transaction =>
        (1 to 6000).foreach { _ =>
          val number = (random.nextDouble() * rows).toLong
          if (random.nextInt(3) == 0) Keys.remove(transaction, number)
          else Keys.put(transaction, number, valueBytes, round.toByte)
        }
      })
    }
    assertBounded(version)
  }

  seeded("a batch that only removes leaves the page that the next rows go into") { random =>
    val base = filled()
    val leaving = random.shuffle((0L until rows).toVector).take((rows * 7 / 10).toInt)
    val transaction = base.open()
    leaving.foreach(Keys.remove(transaction, _))
    val version = checked(transaction.commit())
    assert(transaction.relocatedBytes > 0)
    assert(version.pages.table.page(base.tail.id) eq base.tail.page)
    assertBounded(version)
  }

  seeded("rows that attempts gave up which came to nothing are moved like all others") { random =>
    var version = filled()
    var moved = 0L
    (2 to 8).foreach { round =>
      val keys = random.shuffle((0L until rows).toVector)
      val (given, rest) = keys.splitAt((rows / 2).toInt)
      val attempt = version.open()
      given.foreach { key =>
        if (random.nextBoolean()) Keys.put(attempt, key, valueBytes, fill = 100)
        else Keys.remove(attempt, key)
      }
      // Another attempt that ended as a version is one that nobody goes on from.
      if (round % 2 == 0) attempt.abort() else { val _ = attempt.commit() }
      val next = version.open()
      val rewritten = rest ++ given.take(2000)
      rewritten.foreach(Keys.put(next, _, valueBytes, round.toByte))
      val before = Keys.content(version)
      val after = checked(next.commit())
      moved += next.relocatedBytes
      assertBounded(after)
      assert(Keys.content(after) == before ++ rewritten.map(_ -> round.toByte))
      assert(Keys.content(checked(version)) == before)
      version = after
    }
    assert(moved > 0)
  }

  test("a page whose live bytes are not all found keeps what was not found") {
    val pages = new RowPagesWriter(RowPages.empty, TailPage.none, MemoryUse.Unlimited)
    val value = new Array[Byte](3000)
    val lost = (0L until 200L).map { key =>
      pages.append(0, Keys.key(key), 0, Keys.bytes, value, 0, value.length)
    }
    // Most rows of every page go, and of the others no index knows.
    lost.zipWithIndex.filter(_._2 % 4 != 0).foreach { case (row, _) => pages.release(row) }
    val empty =
      new TableIndexWriter(0, Table.empty(None), pages, MemoryUse.Unlimited, new OneAtATime)
    Compaction.run(pages, _ => empty)
    lost.zipWithIndex.filter(_._2 % 4 == 0).foreach { case (row, i) =>
      assert(
        RowRecord.hasKey(pages.page(Slot.page(row)), Slot.offset(row), Keys.key(i.toLong), 0, 8))
    }
  }

  test("older versions and cursors still show their rows after their pages were emptied") {
    val old = filled()
    val cursor = old.cursor()
    var version = old
    (2 to 6).foreach { round =>
      version = Keys.changed(version) { transaction =>
        (0L until rows).foreach(Keys.put(transaction, _, valueBytes, round.toByte))
      }
    }
    checked(old)
    assert((0L until rows).forall(Keys.fill(old, _) == 1))
    var seen = 0L
    while (cursor.next()) {
      assert(cursor.page(RowRecord.valueOffset(cursor.page, cursor.offset)) === 1)
      seen += 1
    }
    assert(seen === rows)
  }

  test("a replay goes on after a batch that left no row") {
    // A large row takes the number of the page that was dropped.
    Seq(valueBytes, 100000).foreach { nextBytes =>
      val one = Keys.changed(Version.empty)(Keys.put(_, 1, valueBytes))
      val version = checked(Keys.changed(one) { transaction =>
        Keys.remove(transaction, 1)
        transaction.compact()
        Keys.put(transaction, 2, nextBytes, 2)
        transaction.compact()
        Keys.put(transaction, 3, valueBytes, 3)
      })
      assert(version.keyCount === 2)
      assert(Keys.fill(version, 2) === 2)
      assert(Keys.fill(version, 3) === 3)
    }
  }

  seeded("a replay that compacts between random batches keeps what the batches made") { random =>
    (1 to 200).foreach { _ =>
      var version = Version.empty
      var model = Map.empty[Long, Byte]
      (1 to 3).foreach { _ =>
        version = checked(Keys.changed(version) { transaction =>
          (1 to 1 + random.nextInt(6)).foreach { batch =>
            if (random.nextInt(4) == 0) {
              model.keys.foreach(Keys.remove(transaction, _))
              model = Map.empty
            }
            (1 to random.nextInt(20)).foreach { _ =>
              val key = random.nextInt(30).toLong
              if (random.nextInt(3) == 0) {
                Keys.remove(transaction, key)
                model -= key
              } else {
                val size = if (random.nextInt(10) == 0) 20000 else valueBytes
                Keys.put(transaction, key, size, batch.toByte)
                model += key -> batch.toByte
              }
            }
            transaction.compact()
          }
        })
        assert(version.keyCount === model.size)
        model.foreach { case (key, fill) => assert(Keys.fill(version, key) === fill) }
      }
    }
  }

  test("a replay that compacts between its batches keeps the rows of the last one") {
    val transaction = Version.empty.open()
    (1 to 12).foreach { round =>
      (0L until rows / 4).foreach(Keys.put(transaction, _, valueBytes, round.toByte))
      transaction.compact()
    }
    val version = checked(transaction.commit())
    assertBounded(version)
    assert((0L until rows / 4).forall(Keys.fill(version, _) == 12))
  }
}
