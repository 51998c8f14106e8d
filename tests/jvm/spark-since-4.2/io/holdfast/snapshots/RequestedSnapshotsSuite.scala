package io.holdfast.snapshots

import java.nio.file.Files

import org.apache.spark.sql.execution.streaming.state.StateStore
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.SurroundedProvider
import io.holdfast.testkit.{
  Background,
  FaultAt,
  FileOperation,
  FileOperations,
  Gate,
  LoggedWarnings,
  Provider,
  Put,
  StateFileBytes,
  TestStore
}

/** Snapshots that Spark asks for with a commit (`forceSnapshotOnCommit`): they are written beside the
  * batches that follow, and hold what the commit made.
  */
class RequestedSnapshotsSuite extends AnyFunSuite {
  import SurroundedProvider.{background, clock}

  private val settings = Provider(className = classOf[SurroundedProvider].getName)

  private def using[A](settings: Provider = settings)(body: TestStore => A): A = {
    SurroundedProvider.begin()
    TestStore.use(settings)(body)
  }

  private def forced(store: TestStore, version: Long, change: Put): StateStore = {
    val open = store.write(version, forceSnapshot = true)
    change.applyTo(open)
    open.commit()
    open
  }

  private def snapshots(store: TestStore): Seq[String] =
    store.fileNames.filter(_.endsWith(".snapshot"))

  test("the commit does not wait for it, and neither do those that follow") {
    using() { store =>
      forced(store, 0, Put("a", 1))
      store.commit(1, Put("a", 2))
      store.commit(2, Put("a", 3))
      assert(snapshots(store).isEmpty)

      background.run()
      assert(snapshots(store) == Seq("1.snapshot"))
      store.delete("1.delta")
      store.reopen()
      assert(store.counts(1) == Map("a" -> 1L))
      assert(store.counts(3) == Map("a" -> 3L))
    }
  }

  test("batches commit while it is being written") {
    val gate = new Gate(FileOperation.Write, "1.snapshot")
    using(settings.watched(gate)) { store =>
      forced(store, 0, Put("a", 1))
      val writing = new Background(background.run())
      gate.awaitArrival()
      store.commit(1, Put("a", 2))
      assert(store.counts(2) == Map("a" -> 2L))
      gate.open()
      writing.result()
      assert(StateFileBytes.records("lz4", store.bytes("1.snapshot")).size == 1)
      store.delete("1.delta")
      store.reopen()
      assert(store.counts(1) == Map("a" -> 1L))
    }
  }

  test("however often Spark asks until there is one, one is written: of the newest version") {
    using() { store =>
      (0L until 5L).foreach(version => forced(store, version, Put("a", version)))
      assert(background.waiting == 1)
      background.run()
      assert(snapshots(store) == Seq("5.snapshot"))
    }
  }

  test("maintenance writes what waits for its turn, as before a store moves to another executor") {
    using() { store =>
      forced(store, 0, Put("a", 1))
      store.provider.doMaintenance()
      assert(snapshots(store) == Seq("1.snapshot"))
      background.run()
      assert(snapshots(store) == Seq("1.snapshot"))
    }
  }

  test("a store that is closed before its turn comes writes nothing more") {
    using() { store =>
      forced(store, 0, Put("a", 1))
      store.reopen()
      background.run()
      assert(snapshots(store).isEmpty)
      assert(store.counts(1) == Map("a" -> 1L))
    }
  }

  test("a store that is closed while it is being written gives it up") {
    // The first commit of a store looks at its folder.
    val gate = new Gate(FileOperation.ListFolder, "0", passing = 1)
    using(settings.watched(gate)) { store =>
      forced(store, 0, Put("a", 1))
      val writing = new Background(background.run())
      gate.awaitArrival()
      store.close()
      gate.open()
      writing.result()
      assert(store.files.keys.forall(name => !name.contains("snapshot")))
      store.reopen()
      assert(store.counts(1) == Map("a" -> 1L))
    }
  }

  test("maintenance that found it being written comes back to the snapshot that is due") {
    val gate = new Gate(FileOperation.Write, "1.snapshot")
    using(settings.minDeltas(2).watched(gate)) { store =>
      forced(store, 0, Put("a", 1))
      val writing = new Background(background.run())
      gate.awaitArrival()
      (1L until 4L).foreach(version => store.commit(version, Put("a", version)))
      store.provider.doMaintenance()
      gate.open()
      writing.result()
      store.provider.doMaintenance()
      assert(snapshots(store) == Seq("1.snapshot", "4.snapshot"))
    }
  }

  test("an aborted batch asks for none") {
    using() { store =>
      val open = store.write(0, forceSnapshot = true)
      Put("a", 1).applyTo(open)
      open.abort()
      assert(background.waiting == 0)
    }
  }

  test("another attempt at its version replaces it, also while it is being written") {
    Seq(
      FileOperation.Write -> new Gate(FileOperation.Write, "2.snapshot"),
      // The first commit of a store looks at its folder.
      FileOperation.ListFolder -> new Gate(FileOperation.ListFolder, "0", passing = 1),
      FileOperation.Finish -> new Gate(FileOperation.Finish, "2.snapshot")).foreach {
      case (kind, gate) =>
        using(settings.watched(gate)) { store =>
          store.commit(0, Put("a", 1))
          forced(store, 1, Put("a", 10))
          val writing = new Background(background.run())
          gate.awaitArrival()
          val retry = new Background(store.commit(1, Put("a", 20)))
          retry.awaitWaiting()
          gate.open()
          writing.result()
          retry.result()
          background.run()
          store.reopen()
          assert(store.counts(2) == Map("a" -> 20L), s"- the first stood at $kind")
        }
    }
  }

  test("it is given up when the folder holds another attempt at the version, of another executor") {
    using() { store =>
      forced(store, 0, Put("a", 1))
      store.overwrite("1.delta", store.bytes("1.delta") ++ Array[Byte](0))
      background.run()
      assert(snapshots(store).isEmpty)
    }
  }

  test("it is given up when another executor makes the version once more while it is written") {
    val gate = new Gate(FileOperation.Create, "1.snapshot")
    using(settings.watched(gate)) { store =>
      forced(store, 0, Put("a", 1))
      val writing = new Background(background.run())
      gate.awaitArrival()
      store.overwrite("1.delta", store.bytes("1.delta") ++ Array[Byte](0))
      gate.open()
      writing.result()
      assert(snapshots(store).isEmpty)
    }
  }

  test("a failure is no failure of the batch, and is made up for after the maintenance interval") {
    val broken = new Broken
    using(settings.watched(broken)) { store =>
      forced(store, 0, Put("a", 1))
      val said = LoggedWarnings.of(classOf[RequestedSnapshots])(background.run())
      assert(said.exists(_.contains("Could not write the snapshot of version 1")))
      assert(store.counts(1) == Map("a" -> 1L))

      broken.works = true
      forced(store, 1, Put("a", 2))
      assert(background.waiting == 0)
      clock.pass(61000)
      forced(store, 2, Put("a", 3))
      background.run()
      assert(snapshots(store) == Seq("3.snapshot"))
    }
  }

  test("the log says that one is late, how late, and once") {
    using() { store =>
      val said = LoggedWarnings.of(classOf[RequestedSnapshots]) {
        (0L until 3L).foreach(version => forced(store, version, Put("a", version)))
      }
      assert(said.size == 1)
      assert(said.head.contains("there has been none"))
      background.run()
      clock.pass(5000)
      val later = LoggedWarnings.of(classOf[RequestedSnapshots])(forced(store, 3, Put("a", 3)))
      assert(later.head.contains("version 3, 1 versions and 5 s ago"))
    }
  }

  test("a store that replaces its state has its snapshot when the commit returns") {
    using() { store =>
      val open = store.provider.getStore(4, None, forceSnapshotOnCommit = true, loadEmpty = true)
      Put("new", 1).applyTo(open)
      open.commit()
      assert(background.waiting == 0)
      assert(Files.exists(store.folder.resolve("5.snapshot")))
    }
  }

  /** No file of a snapshot can be worked with until it works again. */
  private final class Broken extends FileOperations {
    @volatile var works = false

    override def around[A](operation: FileOperation)(proceed: => A): A = {
      val looks = operation.kind == FileOperation.Exists
      if (works || looks || !operation.file.endsWith(".snapshot")) proceed
      else throw new FaultAt.Fault(operation)
    }
  }
}
