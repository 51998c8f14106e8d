package io.holdfast.snapshots

import java.io.IOException
import java.util.concurrent.atomic.AtomicBoolean

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.SurroundedProvider
import io.holdfast.testkit.{
  Background,
  Change,
  FileOperation,
  FileOperations,
  Gate,
  Provider,
  Put,
  TestStore
}

/** In format 1 the last attempt at a version counts. No snapshot of one before it outlives it. */
class ReplacedAttemptsSuite extends AnyFunSuite {
  import SurroundedProvider.background

  private val settings = Provider(className = classOf[SurroundedProvider].getName)

  private def using[A](settings: Provider = settings)(body: TestStore => A): A = {
    SurroundedProvider.begin()
    TestStore.use(settings)(body)
  }

  private def forced(store: TestStore, version: Long, changes: Change*): Unit = {
    val open = store.write(version, forceSnapshot = true)
    changes.foreach(_.applyTo(open))
    val _ = open.commit()
  }

  private def hasSnapshot(store: TestStore): Boolean = store.fileNames.contains("2.snapshot")

  private def assertRead(store: TestStore, rows: (String, Long)*): Unit = {
    assert(store.counts(2) == rows.toMap)
    store.reopen()
    val _ = assert(store.counts(2) == rows.toMap)
  }

  for (other <- Seq(Seq(Put("a", 20)), Seq(Put("a", 20), Put("b", 1), Put("c", 1)))) {
    test(s"it commits while maintenance looks at the folder, with ${other.size} changes") {
      // The first commit of a store looks at its folder.
      val gate = new Gate(FileOperation.ListFolder, "0", passing = 1)
      using(settings.minDeltas(1).watched(gate)) { store =>
        store.commit(0, Put("a", 1))
        store.commit(1, Put("a", 10))
        val maintenance = new Background(store.provider.doMaintenance())
        gate.awaitArrival()
        store.commit(1, other: _*)
        gate.open()
        maintenance.result()
        assertRead(store, other.map(put => put.name -> put.count): _*)
      }
    }
  }

  test("it commits while the snapshot of the one before waits, and has the snapshot instead") {
    using() { store =>
      store.commit(0, Put("a", 1))
      forced(store, 1, Put("a", 10))
      val size = store.bytes("2.delta").length
      store.commit(1, Put("a", 20))
      assert(store.bytes("2.delta").length == size)
      background.run()
      assert(hasSnapshot(store))
      assertRead(store, "a" -> 20L)
    }
  }

  test("it commits while the snapshot of the one before is written, and gets its own") {
    val gate = new Gate(FileOperation.Create, "2.snapshot")
    using(settings.watched(gate)) { store =>
      store.commit(0, Put("a", 1))
      forced(store, 1, Put("a", 10))
      val writing = new Background(background.run())
      gate.awaitArrival()
      forced(store, 1, Put("a", 20))
      gate.open()
      writing.result()
      background.run()
      assert(hasSnapshot(store))
      assertRead(store, "a" -> 20L)
    }
  }

  test("its delta appears and the answer is lost: the folder says what counts") {
    val lost = new LostAnswer("2.delta")
    using(settings.watched(lost)) { store =>
      store.commit(0, Put("a", 1))
      store.commit(1, Put("a", 10), Put("b", 1))
      lost.armed = true
      val _ = intercept[Exception](store.commit(1, Put("a", 20), Put("c", 1)))
      lost.armed = false
      assertRead(store, "a" -> 20L, "c" -> 1L)
    }
  }

  test("another provider wrote a snapshot of a batch that failed elsewhere") {
    using() { store =>
      store.commit(0, Put("a", 1))
      forced(store, 1, Put("a", 10))
      background.run()
      assert(hasSnapshot(store))
      store.reopen()
      store.commit(1, Put("a", 20))
      assertRead(store, "a" -> 20L)
    }
  }

  test("another provider wrote a snapshot of a first batch that failed elsewhere") {
    using() { store =>
      forced(store, 0, Put("a", 10))
      background.run()
      assert(store.fileNames.contains("1.snapshot"))
      store.reopen()
      store.commit(0, Put("a", 20))
      assert(store.counts(1) == Map("a" -> 20L))
      store.reopen()
      assert(store.counts(1) == Map("a" -> 20L))
    }
  }

  for (operation <- Seq(
      FileOperation(FileOperation.ListFolder, "0"),
      FileOperation(FileOperation.Finish, "2.snapshot")))
    test(s"it replaces all state while the snapshot of the one before stands at $operation") {
      val gate = new Gate(operation.kind, operation.file)
      val first = new FirstAt(operation, gate)
      using(settings.watched(first)) { store =>
        store.commit(0, Put("a", 1))
        first.isArmed = true
        forced(store, 1, Put("a", 10))
        val writing = new Background(background.run())
        gate.awaitArrival()
        val whole = store.provider.getStore(1, None, forceSnapshotOnCommit = true, loadEmpty = true)
        Put("new", 1).applyTo(whole)
        val commit = new Thread(() => { val _ = whole.commit() }, "commit of all state")
        commit.setDaemon(true)
        commit.start()
        // It waits for the other to give up, or does not and is done.
        while (commit.getState != Thread.State.WAITING && commit.isAlive) Thread.onSpinWait()
        gate.open()
        writing.result()
        commit.join(120000L)
        assert(!commit.isAlive)
        assertRead(store, "new" -> 1L)
      }
    }

  /** Lets only the first of an operation, once it is armed, come to a gate. */
  private final class FirstAt(held: FileOperation, gate: Gate) extends FileOperations {
    @volatile var isArmed = false
    private val came = new AtomicBoolean

    override def around[A](operation: FileOperation)(proceed: => A): A =
      if (isArmed && operation == held && came.compareAndSet(false, true))
        gate.around(operation)(proceed)
      else proceed
  }

  /** The file is there, and who made it is told that it failed. */
  private final class LostAnswer(file: String) extends FileOperations {
    @volatile var armed = false

    override def around[A](operation: FileOperation)(proceed: => A): A = {
      val made = proceed
      if (armed && operation == FileOperation(FileOperation.Finish, file)) {
        throw new IOException("the answer was lost")
      }
      made
    }
  }
}
