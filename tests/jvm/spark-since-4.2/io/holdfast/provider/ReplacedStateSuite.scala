package io.holdfast.provider

import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, TestRows, TestStore}

/** Stores opened with `loadEmpty`, as Spark's writers of rewritten state do: the next version is what
  * is put into them, whatever the version before held.
  */
class ReplacedStateSuite extends AnyFunSuite {

  private def replacing(test: TestStore, version: Long): StateStore =
    test.provider.getStore(version, None, forceSnapshotOnCommit = false, loadEmpty = true)

  private def threeVersions[A](body: TestStore => A): A =
    TestStore.use(Provider().minDeltas(100)) { test =>
      (0L until 3L).foreach(version => test.commit(version, Put(s"k$version", version)))
      body(test)
    }

  test("the store is empty, and so is nothing that was there before") {
    threeVersions { test =>
      val store = replacing(test, 3)
      assert(store.version == 3)
      assert(!store.iterator().hasNext)
      assert(store.metrics.numKeys == 0)
      store.abort()
      assert(test.counts(3) == Map("k0" -> 0L, "k1" -> 1L, "k2" -> 2L))
    }
  }

  test("a commit is the whole next version, in a snapshot without a delta") {
    threeVersions { test =>
      val store = replacing(test, 3)
      Put("new", 7).applyTo(store)
      assert(store.commit() == 4)
      assert(test.fileNames == Seq("1.delta", "2.delta", "3.delta", "4.snapshot"))
      assert(test.counts(4) == Map("new" -> 7L))
      test.commit(4, Put("after", 8))
      test.reopen()
      assert(test.counts(5) == Map("new" -> 7L, "after" -> 8L))
      assert(test.counts(3) == Map("k0" -> 0L, "k1" -> 1L, "k2" -> 2L))
      assert(test.stateFromFiles(5, Provider.Spark) == test.state(5))
    }
  }

  test("no delta is begun, however much is put") {
    CommitBesideSuite.committing(CommitBesideSuite.threads) {
      TestStore.use(CommitBesideSuite.beside) { test =>
        test.commit(0, Put("before", 1))
        val store = replacing(test, 1)
        val rows = (0 until 5000).map(n => Put(s"k$n", n.toLong, "n" * 40))
        rows.foreach(_.applyTo(store))
        store.commit()
        val files = Set("1.delta", "2.snapshot")
        assert(test.files.keySet.map(_.stripPrefix(".").stripSuffix(".crc")) == files)
        assert(test.state(2).size == rows.size)
      }
    }
  }

  test("the delta of the version from a run before goes, since the query was set back") {
    TestStore.use(Provider().minDeltas(100)) { test =>
      (0L until 5L).foreach(version => test.commit(version, Put(s"k$version", version)))
      test.reopen()
      val store = replacing(test, 3)
      Put("new", 7).applyTo(store)
      assert(store.commit() == 4)
      assert(test.fileNames == Seq("1.delta", "2.delta", "3.delta", "4.snapshot", "5.delta"))
      test.reopen()
      assert(test.counts(4) == Map("new" -> 7L))
    }
  }

  test("the versions before it need not be there") {
    TestStore.use() { test =>
      val store = replacing(test, 41)
      Put("new", 7).applyTo(store)
      assert(store.commit() == 42)
      test.reopen()
      assert(test.counts(42) == Map("new" -> 7L))
      assert(test.stateFromFiles(42, Provider.Spark) == test.state(42))
    }
  }

  test("in checkpoint format 2 it is an attempt without a base") {
    TestStore.use(Provider().set(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> 2)) { test =>
      val store = replacing(test, 41)
      Put("new", 7).applyTo(store)
      store.commit()
      val info = store.getStateStoreCheckpointInfo()
      assert(info.batchVersion == 42)
      assert(info.baseStateStoreCkptId.isEmpty)
      test.reopen()
      val read = test.provider.getReadStore(42, info.stateStoreCkptId)
      assert(TestRows.counts(read) == Map("new" -> 7L))
      read.release()
    }
  }

  test("an id to start from is refused") {
    TestStore.use() { test =>
      val e = intercept[IllegalArgumentException](
        test.provider.getStore(1, Some("an id"), forceSnapshotOnCommit = false, loadEmpty = true))
      assert(e.getMessage.contains("loadEmpty starts from nothing"))
    }
  }
}
