package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, Remove, TestStore}

/** When snapshots are written if `minDeltasForSnapshot` is not set: when they pay. */
class SnapshotPolicySuite extends AnyFunSuite {

  // No codec makes these much smaller.
  private val random = new scala.util.Random(1)
  private def rows(count: Int): Seq[Put] =
    (0 until count).map(n => Put(s"k$n", n, random.alphanumeric.take(500).mkString))

  private def snapshots(store: TestStore): Seq[String] =
    store.fileNames.filter(_.endsWith(".snapshot"))

  private def batch(store: TestStore, version: Long, changes: Put*): Unit = {
    store.commit(version, changes: _*)
    store.provider.doMaintenance()
  }

  test("the first one is written after more than ten deltas, as by Spark's provider") {
    TestStore.use(Provider().retained(1000)) { store =>
      (0L until 10L).foreach(version => batch(store, version, Put("a", version)))
      assert(snapshots(store).isEmpty)
      batch(store, 10, Put("a", 10))
      assert(snapshots(store) == Seq("11.snapshot"))
    }
  }

  test("small deltas after a large snapshot are replayed rather than that all is written again") {
    TestStore.use(Provider().retained(1000)) { store =>
      batch(store, 0, rows(10000): _*)
      (1L until 60L).foreach(version => batch(store, version, Put("a", version)))
      assert(snapshots(store) == Seq("11.snapshot"))
      store.reopen()
      assert(store.counts(60)("a") == 59)
    }
  }

  test("deltas that are together as large as the snapshot are followed by another") {
    TestStore.use(Provider().retained(1000)) { store =>
      batch(store, 0, rows(2000): _*)
      (1L until 11L).foreach(version => batch(store, version, Put("a", version)))
      assert(snapshots(store) == Seq("11.snapshot"))
      (11L until 22L).foreach(version => batch(store, version, rows(200): _*))
      assert(snapshots(store) == Seq("11.snapshot", "22.snapshot"))
    }
  }

  test("a small state that is written all over has one after every eleventh delta") {
    TestStore.use(Provider().retained(1000)) { store =>
      (0L until 40L).foreach(version => batch(store, version, Put("a", version)))
      assert(snapshots(store) == Seq("11.snapshot", "22.snapshot", "33.snapshot"))
    }
  }

  test("a state that lost its rows gets a small snapshot when the deltas say so") {
    TestStore.use(Provider().retained(1000)) { store =>
      val all = rows(2000)
      batch(store, 0, all: _*)
      (1L until 11L).foreach(version => batch(store, version, Put("a", version)))
      store.commit(11, all.map(row => Remove(row.name)): _*)
      store.provider.doMaintenance()
      (12L until 38L).foreach(version => batch(store, version, Put("a", version)))
      assert(snapshots(store).size == 2)
    }
  }
}
