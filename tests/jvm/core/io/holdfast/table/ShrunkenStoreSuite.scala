package io.holdfast.table

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

/** What a store needs that was large once. */
class ShrunkenStoreSuite extends AnyFunSuite with SeededTests {
  private val rows = 400000L
  private val left = 1000L

  // Removes all keys but some, a fifth of them at a time and in any order.
  private def shrunk(full: Version, random: scala.util.Random): Version = {
    val leaving = random.shuffle((left until rows).toVector)
    leaving.grouped(leaving.size / 5 + 1).foldLeft(full) { (version, keys) =>
      Keys.changed(version)(transaction => keys.foreach(Keys.remove(transaction, _)))
    }
  }

  seeded("a store that shrank has a page table and walks of the size of its rows") { random =>
    val full = Keys.changed(Version.empty)(t => (0L until rows).foreach(Keys.put(t, _, 40)))
    val small = shrunk(full, random)
    val version = (1 to 20).foldLeft(small) { (version, _) =>
      Keys.changed(version)(t => (0L until left).foreach(Keys.put(t, _, 40, 2)))
    }
    assert(TableInvariants.firstViolation(version) === None)
    assert(Keys.content(version) === (0L until left).map(_ -> 2.toByte).toMap)
    val pages = version.pages
    assert(pages.ids.end <= 2 * pages.ids.count + 2 * PageTable.SegmentPages)
    assert(pages.table.segments <= 3)
    val walk = LiveRows.bytes(pages.table, pages.ids.end)
    assert(walk * 32 <= pages.pageBytes + 32 * Integer.BYTES * pages.ids.end)
  }

  test("a walk over large rows needs a word for each") {
    val version =
      Keys.changed(Version.empty)(t => (0L until 500L).foreach(Keys.put(t, _, 40000)))
    assert(TableInvariants.firstViolation(version) === None)
    assert(Keys.content(version).size === 500)
    val pages = version.pages
    assert(LiveRows.bytes(pages.table, pages.ids.end) <= 500 * (8 + 4) + 64)
  }

  test("pages at the end of the table move to its beginning when few are left") {
    // The last rows stay, and those before them go.
    val version =
      Keys.changed(Keys.changed(Version.empty)(t => (0L until rows).foreach(Keys.put(t, _, 400)))) {
        t =>
          (0L until rows - 30000L).foreach(Keys.remove(t, _))
      }
    assert(TableInvariants.firstViolation(version) === None)
    assert(Keys.content(version).size === 30000)
    assert(version.pages.ids.end <= 2 * version.pages.ids.count + 2 * PageTable.SegmentPages + 1)
  }
}
