package io.holdfast.table

import scala.util.Random

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

/** What versions say of the memory they take, and how much that is over many batches. */
class MemorySuite extends AnyFunSuite with SeededTests {
  private val valueBytes = 40
  private val indexes =
    Seq[(String, Option[RowOrder])]("a hash index" -> None, "an ordered index too" -> Some(ByKey))

  private def assertSaysWhatItTakes(version: Version): Assertion = {
    val taken = HeapBytes.of(version)
    assert(
      math.abs(version.heldBytes - taken) <= taken / 20,
      s"${version.keyCount} rows say ${version.heldBytes} bytes and take $taken")
  }

  private def random(transaction: Transaction, random: Random, keys: Int, changes: Int): Unit =
    (1 to changes).foreach { _ =>
      val number = random.nextInt(keys).toLong
      if (random.nextInt(4) == 0) Keys.remove(transaction, number)
      else Keys.put(transaction, number, 8 * random.nextInt(8))
    }

  test("pages and their headers fill regions of the collector without a rest") {
    Seq(0L, 100L << 10, 1L << 40).foreach { held =>
      val page = new Array[Byte](RowPages.capacityFor(held, rowBytes = 100))
      assert(RowPages.bytes(page) % 4096 == 0)
      assert(RowPages.bytes(page) <= (256 << 10))
    }
  }

  indexes.foreach { case (name, order) =>
    seeded(s"a version with $name takes what it says, within 5 %") { seed =>
      Seq(2000, 30000, 120000).foreach { keys =>
        var version = Keys.changed(Version.empty(order)) { transaction =>
          (0L until keys.toLong).foreach(Keys.put(transaction, _, valueBytes))
        }
        assertSaysWhatItTakes(version)
        (1 to 8).foreach { _ =>
          version = Keys.changed(version)(random(_, seed, keys, keys / 4))
          assertSaysWhatItTakes(version)
        }
      }
    }
  }

  indexes.foreach { case (name, order) =>
    seeded(s"two versions with $name take what they say together, within 5 %") { seed =>
      var version = Keys.changed(Version.empty(order)) { transaction =>
        (0L until 60000L).foreach(Keys.put(transaction, _, valueBytes))
      }
      (1 to 6).foreach { round =>
        // Rows leave while the store is walked, as those behind a watermark do.
        val next = Keys.changed(version) { transaction =>
          random(transaction, seed, 70000, 20000)
          val cursor = transaction.cursor()
          while (cursor.next()) {
            if (seed.nextInt(10) == round) {
              val key = RowRecord.keyOffset(cursor.offset)
              transaction.remove(cursor.page, key, RowRecord.keyLength(cursor.page, cursor.offset))
            }
          }
        }
        val said = Version.heldBytes(Seq(version, next))
        val taken = HeapBytes.of(Array(version, next))
        assert(math.abs(said - taken) <= taken / 20, s"they say $said bytes and take $taken")
        version = next
      }
    }
  }

  // It grows for the first half and shrinks for the second; a fifth of the batches are large.
  seeded("through 2,000 batches a store takes at most twice what its rows do") { seed =>
    var version = Version.empty
    var first = 0L
    var next = 0L
    var most = 0L
    (1 to 2000).foreach { batch =>
      version = Keys.changed(version) { transaction =>
        val changes = if (batch % 5 == 0) 400 else 40
        (1 to changes).foreach { _ =>
          Keys.put(transaction, next, valueBytes)
          next += 1
        }
        (1 to changes).foreach { _ =>
          Keys.put(transaction, first + (seed.nextDouble() * (next - first)).toLong, valueBytes)
        }
        val leaving = if (batch <= 1000) changes / 4 else changes + changes * 3 / 4
        (1 to leaving).foreach { _ =>
          Keys.remove(transaction, first)
          first += 1
        }
      }
      assert(version.keyCount === next - first)
      assert(
        version.heldBytes <= 2 * version.liveBytes + 2 * Slot.MaxPageBytes,
        s"${version.heldBytes} bytes for ${version.liveBytes} in batch $batch")
      most = math.max(most, version.heldBytes)
    }
    assert(TableInvariants.firstViolation(version) === None)
    assert(version.keyCount === 0)
    assert(version.heldBytes * 8 < most, "memory of rows that have gone was not given back")
  }
}
