package io.holdfast.snapshots

import org.apache.spark.holdfast.FakeTask
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.HoldfastStateStoreProvider
import io.holdfast.checkpoint.VersionId
import io.holdfast.testkit.{Provider, Put, TestRows, TestStore}
import io.holdfast.versions.StartingVersion

/** A batch computes a partition more than once in one executor, as a `foreachBatch` that uses its frame
  * twice does, or in two of them.
  */
class TwoAttemptsSuite extends AnyFunSuite {
  import TwoAttemptsSuite._

  for (actions <- Seq(1, 2, 3); kept <- Seq(1, 2))
    test(
      s"of $actions attempts with ids the first has the snapshots, and old files go ($kept in memory)") {
      TestStore.use(WithIds.retained(2).minDeltas(2).inMemory(kept)) { store =>
        var id = Option.empty[String]
        val versions = 40L
        val replayed = (0L until versions).map { version =>
          val start = opened(store, version, id)
          id = Seq.fill(actions)(commit(store, version, id, version)).head
          store.provider.doMaintenance()
          start.loaded.map(_.replayedFiles)
        }
        store.awaitSnapshots()
        // What is next begins with what is in memory.
        assert(replayed.flatten.isEmpty)
        assert(store.fileNames.map(number).min > versions - 16)
        store.reopen()
        val start = opened(store, versions, id)
        assert(start.loaded.exists(_.replayedFiles < 6))
        assert(counts(store, versions, id) == (0L until 10L).map(k => s"k$k" -> (30L + k)).toMap)
      }
    }

  test("of attempts with ids that of a task that is tried again has the place in memory") {
    TestStore.use(WithIds) { store =>
      val first = commit(store, 0L, None, 10L)
      val again = FakeTask.again()(commit(store, 0L, None, 20L))
      assert(opened(store, 1L, again).loaded.isEmpty)
      assert(counts(store, 1L, again) == Map("k0" -> 20L))
      assert(counts(store, 1L, first) == Map("k0" -> 10L))
    }
  }

  test("an attempt with an id that counts after all is loaded, and has the place in memory") {
    TestStore.use(WithIds) { store =>
      val first = commit(store, 0L, None, 10L)
      val second = commit(store, 0L, None, 20L)
      assert(opened(store, 1L, first).loaded.isEmpty)
      assert(opened(store, 1L, second).loaded.nonEmpty)
      assert(opened(store, 1L, second).loaded.isEmpty)
      val third = commit(store, 1L, second, 31L)
      assert(counts(store, 2L, third) == Map("k0" -> 20L, "k1" -> 31L))
      store.reopen()
      assert(counts(store, 2L, third) == Map("k0" -> 20L, "k1" -> 31L))
    }
  }

  test("without ids the twin of a task that commits late leaves no snapshot of the other's rows") {
    val spark = SparkSession
      .builder()
      .master("local[1]")
      .config("spark.speculation", "true")
      .getOrCreate()
    try {
      // Whom stores tell of their snapshots.
      assert(spark.streams.active.isEmpty)
      TestStore.use() { first =>
        first.commit(0, Put("a", 1), Put("z", 1))
        // From here on it knows what leads to its version, and lists nothing.
        first.provider.doMaintenance()
        val second = new TestStore(first.settings, first.root)
        try FakeTask.again()(second.commitWithSnapshot(1, Put("a", 10)))
        finally second.close()
        new FakeTask()(first.commit(1, Put("a", 20)))
        assert(first.stateFromFiles(2) == first.state(2))
        assert(first.counts(2) == Map("a" -> 20L, "z" -> 1L))
      }
    } finally spark.stop()
  }
}

object TwoAttemptsSuite {
  private val WithIds = Provider().set(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> 2)

  private def commit(
      store: TestStore,
      version: Long,
      id: Option[String],
      count: Long): Option[String] = {
    val written: StateStore = store.provider.getStore(version, id)
    Put(s"k${version % 10}", count).applyTo(written)
    val _ = written.commit()
    written.getStateStoreCheckpointInfo().stateStoreCkptId
  }

  // As a task would, but for the store.
  private def opened(store: TestStore, version: Long, id: Option[String]): StartingVersion =
    store.provider
      .asInstanceOf[HoldfastStateStoreProvider]
      .store
      .versions
      .open(VersionId(version, id))

  private def counts(store: TestStore, version: Long, id: Option[String]): Map[String, Long] = {
    val read = store.provider.getReadStore(version, id)
    try TestRows.counts(read)
    finally read.release()
  }

  private def number(name: String): Long = name.takeWhile(_.isDigit).toLong
}
