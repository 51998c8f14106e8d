package io.holdfast.provider

import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{
  Background,
  FileOperation,
  FileOperations,
  Provider,
  Put,
  TestRows,
  TestStore,
  UnsteadyTimes
}

/** A version is loaded while another attempt at it is committed: the attempt counts, in memory as in
  * the files.
  */
class LoadRacesSuite extends AnyFunSuite {

  /** Holds the first operation of a kind up when it is done. */
  private final class After(kind: FileOperation.Kind, file: String) extends FileOperations {
    private val arrived = new CountDownLatch(1)
    private val opened = new CountDownLatch(1)

    override def around[A](operation: FileOperation)(proceed: => A): A = {
      val result = proceed
      if (operation == FileOperation(kind, file) && arrived.getCount > 0) {
        arrived.countDown()
        assert(opened.await(120, TimeUnit.SECONDS))
      }
      result
    }

    def awaitArrival(): Unit = {
      val _ = assert(arrived.await(120, TimeUnit.SECONDS))
    }

    def open(): Unit = opened.countDown()
  }

  for (kept <- Seq(0, 1, 2)) {
    test(s"with $kept versions in memory") {
      val reading = new After(FileOperation.Read, "2.delta")
      TestStore.use(Provider().inMemory(kept).watched(reading)) { store =>
        store.commit(0, Put("a", 1))
        store.commit(1, Put("a", 10))
        store.reopen()
        val attempt = store.write(1)
        Put("a", 20).applyTo(attempt)

        val load = new Background(TestRows.counts(store.read(2)))
        reading.awaitArrival()
        attempt.commit()
        reading.open()

        assert(load.result() == Map("a" -> 20L))
        assert(store.counts(2) == Map("a" -> 20L))
        store.commit(2, Put("b", 1))
        store.reopen()
        assert(store.counts(3) == Map("a" -> 20L, "b" -> 1L))
      }
    }
  }

  // Found by the simulator, seed 197174: two snapshots and a cleanup of other executors.
  test(
    "files that a listing has shown may be gone when they are read, if others lead to the version") {
    TestStore.use(Provider().minDeltas(0)) { elsewhere =>
      (0L until 4L).foreach { version =>
        elsewhere.commit(version, Put(s"k$version", version))
        elsewhere.provider.doMaintenance()
      }
      TestStore.use() { written =>
        (0L until 4L).foreach(version => written.commit(version, Put(s"k$version", version)))
        val listing = new After(FileOperation.ListFolder, "0")
        val store = new TestStore(Provider().watched(listing), written.root)
        val load = new Background(TestRows.counts(store.read(4)))
        listing.awaitArrival()
        Seq("2.snapshot", "3.snapshot").foreach(name =>
          store.overwrite(name, elsewhere.bytes(name)))
        Seq("1.delta", "2.delta").foreach(store.delete)
        listing.open()
        assert(load.result() == (0L until 4L).map(count => s"k$count" -> count).toMap)
        store.close()
      }
    }
  }

  test("a file that is missing for good is told of") {
    TestStore.use(Provider()) { store =>
      (0L until 4L).foreach(version => store.commit(version, Put(s"k$version", version)))
      store.reopen()
      store.delete("2.delta")
      val e = intercept[Exception](store.counts(4))
      assert(e.getMessage.contains("2.delta"))
    }
  }

  test("damage is told of where the times of files change with every listing") {
    TestStore.use(Provider().copy(fileManager = classOf[UnsteadyTimes].getName)) { store =>
      (0L until 3L).foreach(version => store.commit(version, Put(s"k$version", version)))
      store.reopen()
      store.overwrite("2.delta", store.bytes("2.delta").take(10))
      val e = intercept[Exception](store.counts(3))
      val told = Iterator.iterate(e: Throwable)(_.getCause).takeWhile(_ != null).map(_.toString)
      assert(
        told.exists(sentence => sentence.contains("2.delta") && sentence.contains("version 2")))
    }
  }
}
