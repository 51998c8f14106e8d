package io.holdfast.ids

import scala.util.Using

import org.apache.spark.SparkException
import org.apache.spark.sql.execution.streaming.state.{
  RecordType,
  StateStore,
  SupportsFineGrainedReplay
}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Change, Provider, Put, Remove, StoreCalls, TestRows, TestStore}

/** Checkpoint format 2: every attempt at a version has an id and files of its own. */
class CheckpointIdsSuite extends AnyFunSuite {

  private val settings =
    Provider().set(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> 2)

  private type Id = Option[String]

  private def store(test: TestStore, version: Long, id: Id): StateStore =
    test.provider.getStore(version, id)

  /** Commits changes on a version and returns the id of what came out. */
  private def commit(test: TestStore, version: Long, id: Id, changes: Change*): Id = {
    val open = store(test, version, id)
    changes.foreach(_.applyTo(open))
    assert(open.commit() === version + 1)
    open.getStateStoreCheckpointInfo().stateStoreCkptId
  }

  private def counts(test: TestStore, version: Long, id: Id): Map[String, Long] = {
    val open = test.provider.getReadStore(version, id)
    try TestRows.counts(open)
    finally open.release()
  }

  test("an attempt tells its id and that of the version it started from") {
    TestStore.use(settings) { test =>
      val first = store(test, 0, None)
      Put("a", 1).applyTo(first)
      first.commit()
      val info = first.getStateStoreCheckpointInfo()
      assert(info.batchVersion === 1)
      assert(info.stateStoreCkptId.isDefined)
      assert(info.baseStateStoreCkptId.isEmpty)

      val second = store(test, 1, info.stateStoreCkptId)
      second.commit()
      assert(second.getStateStoreCheckpointInfo().baseStateStoreCkptId === info.stateStoreCkptId)
      assert(second.getStateStoreCheckpointInfo().stateStoreCkptId !== info.stateStoreCkptId)
    }
  }

  test("a late attempt replaces neither the files nor the rows of the one that won") {
    TestStore.use(settings) { test =>
      val base = commit(test, 0, None, Put("a", 1))
      val won = commit(test, 1, base, Put("a", 2))
      val next = commit(test, 2, won, Put("b", 1))
      val before = test.files
      val late = commit(test, 1, base, Put("a", 99), Put("z", 99))

      assert(before.forall { case (name, bytes) => test.files(name) === bytes })
      assert(counts(test, 2, won) === Map("a" -> 2L))
      test.reopen()
      assert(counts(test, 3, next) === Map("a" -> 2L, "b" -> 1L))
      assert(counts(test, 2, won) === Map("a" -> 2L))
      assert(counts(test, 2, late) === Map("a" -> 99L, "z" -> 99L))
    }
  }

  test("a version is loaded from its own snapshot and deltas among those of other attempts") {
    TestStore.use(settings.minDeltas(2)) { test =>
      var lines = Seq.fill(2)((0L, None: Id, Map.empty[String, Long]))
      // Two lines of attempts that never meet; each has snapshots of its own.
      (1 to 8).foreach { round =>
        lines = lines.zipWithIndex.map { case ((version, id, rows), line) =>
          val key = s"k${round % 3}"
          val value = 10L * round + line
          val made =
            if (round == 5) commit(test, version, id, Remove(key))
            else commit(test, version, id, Put(key, value))
          test.provider.doMaintenance()
          (version + 1, made, if (round == 5) rows - key else rows.updated(key, value))
        }
      }
      assert(test.fileNames.exists(_.endsWith(".snapshot")))
      test.reopen()
      lines.foreach { case (version, id, rows) => assert(counts(test, version, id) === rows) }
    }
  }

  test("cleanup keeps what the versions in use need") {
    TestStore.use(settings.minDeltas(2).retained(3)) { test =>
      var id: Id = None
      var ids = Map.empty[Long, Id]
      (0L until 20L).foreach { version =>
        id = commit(test, version, id, Put("a", version))
        ids = ids.updated(version + 1, id)
        test.provider.doMaintenance()
      }
      test.reopen()
      assert(!test.fileNames.exists(_.startsWith("1_")))
      (17L to 20L).foreach(v => assert(counts(test, v, ids(v)) === Map("a" -> (v - 1))))
    }
  }

  test("a version whose id nobody wrote does not exist") {
    TestStore.use(settings) { test =>
      val base = commit(test, 0, None, Put("a", 1))
      val e = intercept[SparkException] {
        store(test, 2, Some(s"${"0" * 32}-${base.get.take(32)}"))
      }
      assert(e.getCondition === "CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE")
    }
  }

  test("a version that is asked for by the id of another is told from one whose files are gone") {
    TestStore.use(settings) { test =>
      val second = commit(test, 1, commit(test, 0, None, Put("a", 1)), Put("a", 2))
      test.reopen()
      val e = intercept[SparkException](store(test, 3, second))
      assert(e.getCondition === "CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE")
      assert(e.getCause.getMessage.contains("is that of version 2, and Spark asks for version 3"))
      assert(e.getCause.getMessage.contains("the checkpoint has no commits/2"))
    }
  }

  test("a missing delta in the lineage is named with the version that needs it") {
    TestStore.use(settings) { test =>
      val first = commit(test, 0, None, Put("a", 1))
      val second = commit(test, 1, first, Put("a", 2))
      val third = commit(test, 2, second, Put("a", 3))
      test.delete(s"2_${second.get}.delta")
      test.reopen()
      val e = intercept[SparkException](store(test, 3, third))
      assert(e.getCondition === "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS")
      assert(e.getCause.getMessage.contains("needs the changes of version"))
    }
  }

  test("a store without ids goes on with ids and its old files stay readable") {
    io.holdfast.testkit.TemporaryFolder.use { root =>
      Using.resource(new TestStore(Provider(), root)) { test =>
        test.commit(0, Put("a", 1))
        test.commit(1, Put("b", 2))
      }
      Using.resource(new TestStore(settings, root)) { test =>
        val id = commit(test, 2, None, Put("c", 3))
        test.reopen()
        assert(counts(test, 3, id) === Map("a" -> 1L, "b" -> 2L, "c" -> 3L))
      }
    }
  }

  test("changes and replays follow the lineage of the version asked for") {
    TestStore.use(settings) { test =>
      val snapshot = {
        val open = StoreCalls.write(test.provider, 0, forceSnapshot = true)
        Put("a", 1).applyTo(open)
        open.commit()
        test.awaitSnapshots()
        open.getStateStoreCheckpointInfo().stateStoreCkptId
      }
      val won = commit(test, 1, snapshot, Put("a", 2))
      commit(test, 1, snapshot, Put("a", 99))
      val next = commit(test, 2, won, Remove("a"))
      test.reopen()
      val provider = test.provider.asInstanceOf[SupportsFineGrainedReplay]
      val replayed = provider.replayReadStateFromSnapshot(1, 2, snapshot, won)
      assert(TestRows.counts(replayed) === Map("a" -> 2L))

      val reader = provider.getStateStoreChangeDataReader(1, 3, None, next)
      val changes = reader.map { case (kind, _, value, version) =>
        (kind, Option(value).map(_.getLong(0)), version)
      }.toList
      reader.closeIfNeeded()
      assert(
        changes === List(
          (RecordType.PUT_RECORD, Some(1L), 0L),
          (RecordType.PUT_RECORD, Some(2L), 1L),
          (RecordType.DELETE_RECORD, None, 2L)))
    }
  }
}
