package io.holdfast.provider

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.state.holdfast.FileChecksums
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit._

/** Checkpoint format 1 without file checksums, where an earlier run of the query had them on, and a later
  * one has them on again.
  */
class LeftChecksumsSuite extends AnyFunSuite {
  private val off = Provider().minDeltas(0)

  // In format 1 Spark 4.1 alone can have them on. Where versions have ids, all lines read those without
  // as well.
  private val on = off.set(
    SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> 2,
    SQLConf.STREAMING_CHECKPOINT_FILE_CHECKSUM_ENABLED.key -> true,
    "spark.sql.streaming.stateStore.fileChecksumThreadPoolSize" -> 0)

  /** Has a run written all files of the folder that had checksums on. */
  private def withChecksums(store: TestStore): Unit = {
    val folder = new Path(store.folder.toUri)
    val manager =
      FileChecksums.over(new LocalFileManager(folder, new Configuration(false)), on.storeConf)
    store.fileNames.foreach { name =>
      val bytes = store.bytes(name)
      val file = manager.createAtomic(new Path(folder, name), overwriteIfPossible = true)
      file.write(bytes)
      file.close()
    }
    manager.close()
  }

  private def threeVersions(store: TestStore): Unit = {
    (0L until 3L).foreach(version => store.commit(version, Put("a", version)))
    store.provider.doMaintenance()
    assert(store.fileNames == Seq("1.delta", "2.delta", "3.delta", "3.snapshot"))
    withChecksums(store)
    store.reopen()
  }

  private def countsWithChecksums(store: TestStore, version: Long): Map[String, Long] =
    Using.resource(new TestStore(on, store.root))(_.counts(version))

  test("those of a delta go when the delta of another attempt takes its place") {
    TestStore.use(off) { store =>
      threeVersions(store)
      store.commit(1, Put("a", 20))
      assert(countsWithChecksums(store, 2) == Map("a" -> 20L))
      assert(!store.fileNames.contains("2.delta.crc"))
      assert(store.fileNames.contains("1.delta.crc"))
      // What is damaged is told of still.
      store.overwrite("1.delta", store.bytes("2.delta"))
      intercept[Exception](countsWithChecksums(store, 1))
    }
  }

  test("those of a snapshot go with it, and say nothing of the one that is written anew") {
    TestStore.use(off) { store =>
      threeVersions(store)
      store.commit(2, Put("a", 20), Put("b", 30))
      store.awaitSnapshots()
      store.provider.doMaintenance()
      assert(store.fileNames.contains("3.snapshot"))
      assert(!store.fileNames.exists(name => name.startsWith("3.") && name.endsWith(".crc")))
      store.delete("2.delta")
      assert(countsWithChecksums(store, 3) == Map("a" -> 20L, "b" -> 30L))
    }
  }

  test("a query that begins anew over old files finds them, too") {
    TestStore.use(off) { store =>
      threeVersions(store)
      (0L until 3L).foreach(version => store.commit(version, Put("a", 100 + version)))
      store.awaitSnapshots()
      (1L to 3L).foreach { version =>
        assert(countsWithChecksums(store, version) == Map("a" -> (99 + version)))
      }
    }
  }

  test("a first batch whose delta is begun before its folder is looked at finds them, too") {
    TestStore.use(off) { store =>
      threeVersions(store)
      val large = (0 until 60000).map(n => Put(s"k$n", 7L))
      store.commit(0, large: _*)
      assert(!store.fileNames.contains("1.delta.crc"))
      assert(countsWithChecksums(store, 1).size == large.size)
    }
  }

  test("those that have gone are not deleted once more") {
    val gone = new CountOperations(operation =>
      operation.kind == FileOperation.Delete && operation.file == "2.delta.crc")
    TestStore.use(off.watched(gone)) { store =>
      threeVersions(store)
      (20L to 22L).foreach { value =>
        store.commit(1, Put("a", value))
        assert(gone.count == 1)
      }
      assert(store.fileNames.contains("1.delta.crc"))
    }
  }

  test("a query that never had any looks at its folder in its first batch alone") {
    val asked = new CountOperations(operation =>
      Set[FileOperation.Kind](FileOperation.ListFolder, FileOperation.Exists, FileOperation.Delete)(
        operation.kind))
    TestStore.use(off.watched(asked)) { store =>
      store.commit(0, Put("a", 1))
      val first = asked.count
      assert(first == 2)
      (1L until 4L).foreach(version => store.commit(version, Put("a", version)))
      assert(asked.count == first)
    }
  }
}
