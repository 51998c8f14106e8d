package io.holdfast.provider

import java.util.concurrent.Executor

import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CheckpointFileManager
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.HoldfastStateStoreProvider
import io.holdfast.surroundings.{Beside, Surroundings}
import io.holdfast.testkit.{Background, HandClock, Provider, Put, TestStore}

/** A machine that has no more threads says so with an OutOfMemoryError. What threads do for a store is
  * a help, and batches go on without.
  */
class NoThreadsSuite extends AnyFunSuite {
  import NoThreadsSuite.threads

  private def without[A](body: => A): A = {
    threads.there = false
    try body
    finally threads.there = true
  }

  private def using[A](body: TestStore => A): A =
    TestStore.use(Provider(className = classOf[NoThreadsSuite.ThreadlessProvider].getName))(body)

  // What it asks for is written before it returns.
  private def forced(store: TestStore, version: Long, put: Put): Long = {
    val open = store.write(version, forceSnapshot = true)
    put.applyTo(open)
    open.commit()
  }

  test("a batch commits, and later ones get their snapshots") {
    using { store =>
      without {
        assert(forced(store, 0, Put("a", 1)) == 1)
        assert(store.counts(1) == Map("a" -> 1L))
      }
      forced(store, 1, Put("a", 2))
      assert(store.fileNames == Seq("1.delta", "2.delta", "2.snapshot"))
    }
  }

  test("a version is loaded from deltas while all readers are busy with other loads") {
    using { store =>
      (0L until 12L).foreach(version => store.commit(version, Put(s"k$version", version)))
      store.reopen()
      threads.busy = true
      val load = new Background(store.counts(12))
      try assert(load.result() == (0L until 12L).map(version => s"k$version" -> version).toMap)
      finally threads.busy = false
    }
  }

  test("a version is loaded from deltas in the thread that wants it") {
    using { store =>
      (0L until 12L).foreach(version => store.commit(version, Put(s"k$version", version)))
      store.reopen()
      without {
        assert(store.counts(12) == (0L until 12L).map(version => s"k$version" -> version).toMap)
      }
    }
  }
}

object NoThreadsSuite {

  /** Runs work at once, as long as there are threads. */
  final class Threads extends Executor {
    @volatile var there = true
    @volatile var busy = false

    override def execute(work: Runnable): Unit =
      if (busy) {} // It waits for its turn, which never comes.
      else if (there) work.run()
      else throw new OutOfMemoryError("unable to create native thread")
  }

  val threads = new Threads

  final class ThreadlessProvider extends HoldfastStateStoreProvider {
    override private[holdfast] def surroundings: Surroundings =
      Surroundings(
        new HandClock,
        threads,
        threads,
        new Beside(threads, worthFrom = 0L),
        CheckpointFileManager.create)
  }
}
