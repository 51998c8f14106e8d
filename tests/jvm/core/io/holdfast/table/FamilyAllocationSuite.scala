package io.holdfast.table

import scala.util.Random

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.file.FamilyFiles
import io.holdfast.testkit.SeededTests

/** A batch on a store with column families that fails for want of memory, wherever it does, costs nothing
  * but itself.
  */
class FamilyAllocationSuite extends AnyFunSuite with SeededTests {
  import FamilyAllocationSuite._

  seeded("allocations all over batches with lists and families that come and go are refused") {
    random =>
      var version = Version.empty
      (1 to 4).foreach { _ =>
        val seed = random.nextLong()
        val before = FamilyContent.of(version)
        val needed = new FailingMemory(Long.MaxValue)
        batch(version, seed, needed)
        // How much a batch needs depends on how full the page is that it goes on filling.
        val surely = needed.asked * 9 / 10
        (1L to surely by math.max(1L, surely / 60)).foreach { at =>
          intercept[OutOfMemoryError](batch(version, seed, new FailingMemory(at)))
          assertHolds(version, before)
        }
        val expected = FamilyContent.of(batch(version, seed, MemoryUse.Unlimited))
        version = batch(version, seed, MemoryUse.Unlimited)
        assertHolds(version, expected)
      }
  }

  private def assertHolds(version: Version, content: FamilyContent.Content): Assertion = {
    assert(TableInvariants.firstViolation(version) === None)
    assert(FamilyContent.of(version) === content)
  }
}

object FamilyAllocationSuite {
  private val families = 4

  /** The version that a batch makes, which is the same whenever it is run. */
  def batch(version: Version, seed: Long, memory: MemoryUse): Version = {
    val random = new Random(seed)
    val rows = version.open(memory)
    try {
      (0 until families).foreach(define(rows, _))
      (1 to 3000).foreach(_ => change(rows, random))
      // What it had is given up, and what is put into it is another family's.
      rows.families.get(name(random.nextInt(families))).foreach(rows.remove(_))
      (0 until families).foreach(define(rows, _))
      (1 to 1000).foreach(_ => change(rows, random))
      FamilyFiles.ofChanges(rows.changes())
      rows.commit()
    } finally rows.abort()
  }

  private def name(number: Int): String = s"family $number"

  private def define(rows: Transaction, number: Int): Unit =
    if (rows.families.get(name(number)).isEmpty) {
      val encoder = if (number % 2 == 0) "" else "ordered"
      rows.define(
        Family(rows.families.freeId, name(number), false, number < 2, encoder, "key", "value"))
    }

  private def change(rows: Transaction, random: Random): Unit = {
    val family = rows.families.get(name(random.nextInt(families))).get
    val key = Keys.key(random.nextInt(400).toLong)
    val table = rows.table(family.keyTable, Some(ByKey).filter(_ => family.keyEncoder.nonEmpty))
    // Now and then larger than a part of a list.
    val words = random.nextInt(if (random.nextInt(20) == 0) 200 else 12)
    val value = Array.fill(8 * words)(random.nextInt().toByte)
    if (family.hasManyValues) {
      val lists = new ListWriter(table, rows.table(family.partTable), rowChecksums = false)
      if (random.nextInt(6) == 0) lists.remove(key, 0, key.length)
      else {
        lists.begin(key, 0, key.length, append = random.nextInt(6) > 0)
        (0 to random.nextInt(4)).foreach(_ => lists.add(value, 0, value.length))
        lists.finish()
      }
    } else if (random.nextInt(4) == 0) table.remove(key, 0, key.length)
    else table.put(key, 0, key.length, value, 0, value.length)
  }
}
