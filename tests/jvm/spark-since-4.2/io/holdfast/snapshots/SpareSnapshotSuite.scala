package io.holdfast.snapshots

import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, TestStore}

/** Two ways to every promised version: any one snapshot may be unreadable. */
class SpareSnapshotSuite extends AnyFunSuite {

  private val Repair = SQLConf.STATE_STORE_AUTO_SNAPSHOT_REPAIR_ENABLED.key
  private val MaxReplay = SQLConf.STATE_STORE_AUTO_SNAPSHOT_REPAIR_MAX_CHANGE_FILE_REPLAY.key
  private val random = new scala.util.Random(5)

  // No codec makes these much smaller, so that small deltas do not cost as much as the snapshot.
  private val large =
    (0 until 4000).map(n => Put(s"k$n", n, random.alphanumeric.take(8000).mkString))

  private def snapshots(store: TestStore): Seq[Int] =
    store.fileNames.collect { case s"$number.snapshot" => number.toInt }.sorted

  /** Batches and maintenance after every so many. */
  private def grow(store: TestStore, versions: Range, every: Int, first: Seq[Put] = Nil): Unit =
    versions.foreach { version =>
      val changes = if (version == versions.head) first else Nil
      store.commit(version - 1L, changes :+ Put("a", version): _*)
      if (version % every == 0) store.provider.doMaintenance()
    }

  private def cutEachInTurn(store: TestStore, newest: Int, promised: Int): Unit =
    snapshots(store).filter(_ <= newest).foreach { snapshot =>
      val name = s"$snapshot.snapshot"
      val whole = store.bytes(name)
      store.overwrite(name, whole.take(whole.length / 2))
      store.reopen()
      Seq(newest, promised).foreach { version =>
        assert(
          store.counts(version.toLong)("a") == version,
          s"- without $name, of ${snapshots(store)}")
      }
      store.overwrite(name, whole)
    }

  test("with the default policy, small deltas and a large state") {
    TestStore.use(Provider().set(Repair -> true)) { store =>
      grow(store, 1 to 700, every = 20, first = large)
      assert(!store.fileNames.contains("1.delta"))
      assert(snapshots(store).size <= 3)
      cutEachInTurn(store, newest = 700, promised = 600)
    }
  }

  test("the snapshots are so near to each other that Spark's limit of a repair is kept") {
    TestStore.use(Provider().set(Repair -> true)) { store =>
      grow(store, 1 to 1200, every = 20, first = large)
      store.reopen()
      snapshots(store).sliding(2).foreach(pair => assert(pair.last - pair.head <= 270))
      val limit = store.settings.set(MaxReplay -> 500)
      store.overwrite(s"${snapshots(store).last}.snapshot", Array[Byte](1))
      val found = new TestStore(limit, store.root)
      try assert(found.counts(1200)("a") == 1200)
      finally found.close()
    }
  }

  test("with snapshots every few versions, and few versions promised") {
    TestStore.use(Provider().minDeltas(3).retained(2).set(Repair -> true)) { store =>
      grow(store, 1 to 41, every = 1)
      assert(!store.fileNames.contains("30.delta"))
      cutEachInTurn(store, newest = 41, promised = 39)
    }
  }

  test("snapshots that lie further apart are no reason to refuse, unless a limit is set") {
    TestStore.use(Provider().minDeltas(10000).set(Repair -> true)) { store =>
      grow(store, 1 to 5, every = 10000)
      store.commitWithSnapshot(5, Put("a", 6))
      grow(store, 7 to 520, every = 10000)
      store.commitWithSnapshot(520, Put("a", 521))
      store.overwrite("521.snapshot", Array[Byte](1))
      store.reopen()
      assert(store.counts(521)("a") == 521)
      val limited = new TestStore(store.settings.set(MaxReplay -> 500), store.root)
      try {
        val _ = intercept[Exception](limited.read(521))
      } finally limited.close()
    }
  }
}
