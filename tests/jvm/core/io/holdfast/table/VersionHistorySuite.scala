package io.holdfast.table

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

/** What is said of versions that others came after, held against a walk over what they lead to. */
class VersionHistorySuite extends AnyFunSuite with SeededTests {
  private val rows = 20000L

  private def full: Version =
    Keys.changed(Version.empty)(t => (0L until rows).foreach(Keys.put(t, _, 40)))

  private def next(version: Version, random: scala.util.Random): Version =
    Keys.changed(version) { t =>
      (1 to 500).foreach(_ => Keys.put(t, random.nextInt(rows.toInt).toLong, 40, 2))
    }

  private def beside(version: Version, newest: Version): Long =
    HeapBytes.of(Array(version, newest)) - HeapBytes.of(newest)

  seeded("a version holds beside the newest what came in the place of its parts") { random =>
    val history = new VersionHistory
    val first = full
    history.append(first)
    var newest = first
    (1 to 10).foreach { _ =>
      newest = next(newest, random)
      history.append(newest)
      // The versions between have gone.
      history.retain(Seq(first))
      val said = history.bytesBesideNewest(first)
      assert(said >= beside(first, newest) * 95 / 100)
      assert(said <= first.heldBytes)
    }
    assert(history.bytesBesideNewest(newest) === 0)
  }

  seeded("little was replaced, and little counts") { random =>
    val history = new VersionHistory
    val first = full
    history.append(first)
    val second = Keys.changed(first)(Keys.put(_, random.nextInt(100).toLong, 40, 3))
    history.append(second)
    assert(history.bytesBesideNewest(first) * 20 < first.heldBytes)
  }

  seeded("an attempt that another one took the place of holds what it added too") { random =>
    val history = new VersionHistory
    val base = full
    history.append(base)
    val one = next(base, random)
    history.append(one)
    val other = next(base, random)
    history.append(other)
    val said = history.bytesBesideNewest(one)
    assert(said >= beside(one, other) * 95 / 100)
    assert(said * 2 < one.heldBytes)
  }

  test("a version that was loaded anew shares nothing with those before it") {
    val history = new VersionHistory
    val (before, loaded) = (full, full)
    history.append(before)
    history.append(loaded)
    assert(history.bytesBesideNewest(before) === before.heldBytes)
  }
}
