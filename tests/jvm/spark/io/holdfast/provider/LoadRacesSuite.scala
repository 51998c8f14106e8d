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
  TestStore
}

/** A version is loaded while another attempt at it is committed: the attempt counts, in memory as in
  * the files.
  */
class LoadRacesSuite extends AnyFunSuite {

  /** Holds the first reading of a file up when it is done. */
  private final class AfterReading(file: String) extends FileOperations {
    private val arrived = new CountDownLatch(1)
    private val opened = new CountDownLatch(1)

    override def around[A](operation: FileOperation)(proceed: => A): A = {
      val result = proceed
      if (operation == FileOperation(FileOperation.Read, file) && arrived.getCount > 0) {
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
      val reading = new AfterReading("2.delta")
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
}
