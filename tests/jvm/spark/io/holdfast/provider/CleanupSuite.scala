package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{
  CountOperations,
  FaultAt,
  FileOperation,
  FileOperations,
  LateListings,
  Provider,
  Put,
  SeededTests,
  TestStore
}

/** Which files maintenance deletes (`spark.sql.streaming.minBatchesToRetain`). */
class CleanupSuite extends AnyFunSuite with SeededTests {

  test("files that only versions older than the promised ones need are deleted") {
    TestStore.use(Provider().minDeltas(2).retained(2)) { store =>
      (0L until 12L).foreach { version =>
        store.commit(version, Put("a", version))
        store.provider.doMaintenance()
      }
      // 10 is the oldest promised version, and its chain starts at the snapshot of 9; 6 is the spare.
      assert(
        store.fileNames.sortBy(_.takeWhile(_ != '.').toInt) == Seq(
          Seq("6.delta", "6.snapshot", "7.delta", "8.delta", "9.delta", "9.snapshot"),
          Seq("10.delta", "11.delta", "12.delta", "12.snapshot")).flatten)
    }
  }

  test("nothing is deleted while no version is older than the promised ones") {
    TestStore.use(Provider().minDeltas(1).retained(9)) { store =>
      (0L until 9L).foreach { version =>
        store.commit(version, Put("a", version))
        store.provider.doMaintenance()
      }
      assert(store.fileNames.count(_.endsWith(".delta")) == 9)
    }
  }

  test("nothing is deleted when the chain of the oldest promised version is broken") {
    TestStore.use(Provider().minDeltas(100).retained(2)) { store =>
      (0L until 6L).foreach(version => store.commit(version, Put("a", version)))
      store.delete("3.delta")
      val before = store.files
      store.provider.doMaintenance()
      assert(store.files == before)
    }
  }

  test("nothing is deleted on account of snapshots that are gone, though a listing shows them") {
    val settings = Provider().copy(fileManager = classOf[LateListings].getName)
    TestStore.use(settings.minDeltas(4).retained(2)) { store =>
      def commit(versions: Range): Unit =
        versions.foreach(version => store.commit(version - 1L, Put("a", version)))
      Seq(1 to 5, 6 to 10).foreach { versions =>
        commit(versions)
        // What the first one has written, the second one lists.
        store.provider.doMaintenance()
        store.provider.doMaintenance()
      }
      val snapshots = store.fileNames.filter(_.endsWith(".snapshot"))
      assert(snapshots.size == 2)
      snapshots.foreach(store.delete)
      commit(11 to 13)
      store.provider.doMaintenance()
      assert(store.stateFromFiles(13L) == store.state(13L))
      assert(store.fileNames.contains("1.delta"))
    }
  }

  test("a query that was set back keeps what leads to its versions, and not what newer files say") {
    val settings = Provider().minDeltas(2).retained(2)
    TestStore.use(settings) { store =>
      def commit(versions: Range, count: Int): Unit =
        versions.foreach { version =>
          store.commit(version - 1L, Put("a", version + count))
          store.awaitSnapshots()
        }
      commit(1 to 3, 0)
      store.provider.doMaintenance()
      commit(4 to 6, 0)
      store.provider.doMaintenance()
      // The query has ended before it has cleaned up after this.
      commit(7 to 15, 0)
      store.commitWithSnapshot(15L, Put("a", 16L))
      store.commitWithSnapshot(16L, Put("a", 17L))
      commit(18 to 20, 0)

      // It begins again at version 5.
      store.reopen()
      commit(6 to 7, 100)
      store.provider.doMaintenance()
      val other = new TestStore(settings, store.root)
      try assert((5L to 7L).map(other.counts(_)("a")) == Seq(5L, 106L, 107L))
      finally other.close()

      // And has no file too many when it is as far as it was.
      commit(8 to 20, 100)
      store.provider.doMaintenance()
      commit(21 to 24, 100)
      store.provider.doMaintenance()
      commit(25 to 28, 100)
      store.provider.doMaintenance()
      assert(store.fileNames.map(_.takeWhile(_ != '.').toInt).min >= 20)
      assert(store.stateFromFiles(28L) == store.state(28L))
    }
  }

  test("a provider that a store has left deletes nothing that the one which has it needs") {
    val settings = Provider().minDeltas(1).retained(1)
    TestStore.use(settings) { left =>
      (0L until 4L).foreach(version => left.commit(version, Put("a", version)))
      val here = new TestStore(settings, left.root)
      try {
        (4L until 12L).foreach { version =>
          here.commit(version, Put("a", version))
          here.provider.doMaintenance()
          left.provider.doMaintenance()
        }
        here.reopen()
        assert((11L to 12L).map(here.counts(_)("a")) == Seq(10L, 11L))
        assert(here.fileNames.forall(_.takeWhile(_ != '.').toInt >= 8))
      } finally here.close()
    }
  }

  test("files of other kinds are left alone") {
    TestStore.use(Provider().minDeltas(1).retained(1)) { store =>
      val others = Seq("_metadata", "1.delta.backup", "notes.txt", "x.delta", "1.changelog")
      others.foreach(store.overwrite(_, Array[Byte](1)))
      (0L until 6L).foreach { version =>
        store.commit(version, Put("a", version))
        store.provider.doMaintenance()
      }
      assert(others.forall(store.fileNames.contains))
      assert(!store.fileNames.contains("1.delta"))
    }
  }

  test("a file that could not be deleted is deleted by the next maintenance") {
    val broken = new UndeletableDeltas
    TestStore.use(Provider().minDeltas(2).retained(2).watched(broken)) { store =>
      (0L until 12L).foreach { version =>
        store.commit(version, Put("a", version))
        store.provider.doMaintenance()
      }
      assert(store.fileNames.contains("1.delta"))
      broken.works = true
      store.provider.doMaintenance()
      assert(!store.fileNames.contains("1.delta"))
      assert(store.fileNames.contains("6.snapshot"))
    }
  }

  test("a folder in which nothing has happened is not listed again") {
    val listings = new CountOperations(_.kind == FileOperation.ListFolder)
    TestStore.use(Provider().minDeltas(1).retained(1).watched(listings)) { store =>
      (0L until 4L).foreach(version => store.commit(version, Put("a", version)))
      store.provider.doMaintenance()
      val first = listings.count
      assert(first > 0)
      (1 to 5).foreach(_ => store.provider.doMaintenance())
      assert(listings.count == first)
      store.commit(4, Put("a", 4))
      store.provider.doMaintenance()
      assert(listings.count > first)
    }
  }

  seeded("whatever is committed and maintained, the promised versions can be read from the files") {
    random =>
      (1 to 20).foreach { _ =>
        val retained = 1 + random.nextInt(4)
        val settings = Provider().minDeltas(random.nextInt(4)).retained(retained)
        TestStore.use(settings) { store =>
          val versions = 1 + random.nextInt(20)
          (0 until versions).foreach { version =>
            store.commit(version.toLong, Put("a", version))
            if (random.nextBoolean()) store.provider.doMaintenance()
            if (random.nextInt(4) == 0) store.reopen()
          }
          store.reopen()
          val oldest = math.max(1, versions - retained)
          (oldest to versions).foreach { version =>
            assert(store.counts(version.toLong) == Map("a" -> (version - 1L)))
          }
        }
      }
  }

  private final class UndeletableDeltas extends FileOperations {
    @volatile var works = false

    override def around[A](operation: FileOperation)(proceed: => A): A =
      if (works || operation.kind != FileOperation.Delete || !operation.file.endsWith(".delta"))
        proceed
      else throw new FaultAt.Fault(operation)
  }
}
