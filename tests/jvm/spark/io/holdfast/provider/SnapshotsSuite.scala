package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, Remove, StateFileBytes, TestStore}

/** When snapshots are written, and what is in them. */
class SnapshotsSuite extends AnyFunSuite {

  private def batches(store: TestStore, versions: Range): Unit =
    versions.foreach(version => store.commit(version - 1L, Put(s"k$version", version)))

  private def snapshots(store: TestStore): Seq[String] =
    store.fileNames.filter(_.endsWith(".snapshot"))

  private def rows(newest: Int): Map[String, Long] =
    (1 to newest).map(version => s"k$version" -> version.toLong).toMap

  test("maintenance writes one when more deltas than minDeltasForSnapshot lead to the newest") {
    TestStore.use(Provider().minDeltas(3)) { store =>
      batches(store, 1 to 3)
      store.provider.doMaintenance()
      assert(snapshots(store).isEmpty)
      batches(store, 4 to 4)
      store.provider.doMaintenance()
      assert(snapshots(store) == Seq("4.snapshot"))
      batches(store, 5 to 7)
      store.provider.doMaintenance()
      assert(snapshots(store) == Seq("4.snapshot"))
      batches(store, 8 to 8)
      store.provider.doMaintenance()
      assert(snapshots(store) == Seq("4.snapshot", "8.snapshot"))
    }
  }

  test("maintenance writes nothing twice") {
    TestStore.use(Provider().minDeltas(0)) { store =>
      batches(store, 1 to 2)
      store.provider.doMaintenance()
      val before = store.files
      store.provider.doMaintenance()
      assert(store.files == before)
      assert(snapshots(store) == Seq("2.snapshot"))
    }
  }

  test("a snapshot holds the rows that are there, and no removed one") {
    TestStore.use(Provider().minDeltas(0)) { store =>
      store.commit(0, Put("a", 1), Put("b", 2))
      store.commit(1, Remove("a"), Put("c", 3))
      store.provider.doMaintenance()
      assert(StateFileBytes.records("lz4", store.bytes("2.snapshot")).size == 2)
      Seq("1.delta", "2.delta").foreach(store.delete)
      store.reopen()
      assert(store.counts(2) == Map("b" -> 2L, "c" -> 3L))
    }
  }

  test("a commit writes one when Spark asks for it") {
    TestStore.use(Provider().minDeltas(100)) { store =>
      batches(store, 1 to 2)
      store.commitWithSnapshot(2, Put("k3", 3))
      assert(snapshots(store) == Seq("3.snapshot"))
      store.delete("3.delta")
      store.reopen()
      assert(store.counts(3) == rows(3))
    }
  }

  test("a provider leaves the folder alone when a newer version lies in it") {
    TestStore.use(Provider().minDeltas(1)) { store =>
      batches(store, 1 to 3)
      // As when another executor has taken the store over.
      store.overwrite("4.delta", store.bytes("3.delta"))
      store.provider.doMaintenance()
      assert(snapshots(store).isEmpty)
    }
  }
}
