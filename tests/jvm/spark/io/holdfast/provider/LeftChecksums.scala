package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit._

/** Checkpoint format 1 in a run that writes no file checksums, where an earlier run of the query has, and
  * a later one has them again: with Spark 4.1, which is the one that can in this format.
  */
abstract class LeftChecksums extends AnyFunSuite {
  protected val off: Provider = Provider().minDeltas(0)

  /** Has a run written all files of the folder that had checksums on. */
  protected def withChecksums(store: TestStore): Unit

  /** What a later run reads, with checksums where this Spark has them. */
  protected def countsLater(store: TestStore, version: Long): Map[String, Long]

  private def checksums(store: TestStore): Seq[String] =
    store.fileNames.filter(_.endsWith(".crc"))

  protected def threeVersions(store: TestStore): Unit = {
    (0L until 3L).foreach(version => store.commit(version, Put("a", version)))
    store.provider.doMaintenance()
    assert(store.fileNames == Seq("1.delta", "2.delta", "3.delta", "3.snapshot"))
    withChecksums(store)
    store.reopen()
  }

  test("those of a delta go when the delta of another attempt takes its place") {
    TestStore.use(off) { store =>
      threeVersions(store)
      store.commit(1, Put("a", 20))
      assert(countsLater(store, 2) == Map("a" -> 20L))
      assert(!store.fileNames.contains("2.delta.crc"))
      assert(store.fileNames.contains("1.delta.crc"))
    }
  }

  test("those of a snapshot go with it, and say nothing of the one that is written anew") {
    TestStore.use(off) { store =>
      threeVersions(store)
      store.commit(2, Put("a", 20), Put("b", 30))
      store.awaitSnapshots()
      store.provider.doMaintenance()
      assert(store.fileNames.contains("3.snapshot"))
      assert(checksums(store) == Seq("1.delta.crc", "2.delta.crc"))
      store.delete("2.delta")
      assert(countsLater(store, 3) == Map("a" -> 20L, "b" -> 30L))
    }
  }

  test("a query that begins anew over old files finds them, too") {
    TestStore.use(off) { store =>
      threeVersions(store)
      store.commit(0, Put("a", 100))
      assert(!checksums(store).contains("1.delta.crc"))
      assert(checksums(store).contains("2.delta.crc"))
      (1L until 3L).foreach(version => store.commit(version, Put("a", 100 + version)))
      store.awaitSnapshots()
      assert(checksums(store).isEmpty)
      (1L to 3L).foreach { version =>
        assert(countsLater(store, version) == Map("a" -> (99 + version)))
      }
    }
  }

  test("a first batch whose delta is begun before its folder is looked at finds them, too") {
    TestStore.use(off) { store =>
      threeVersions(store)
      val large = (0 until 60000).map(n => Put(s"k$n", 7L))
      store.commit(0, large: _*)
      assert(!store.fileNames.contains("1.delta.crc"))
      assert(countsLater(store, 1).size == large.size)
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
