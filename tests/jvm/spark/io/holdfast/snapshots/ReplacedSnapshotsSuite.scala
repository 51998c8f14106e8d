package io.holdfast.snapshots

import java.nio.file.Files
import java.nio.file.attribute.FileTime
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path, PathFilter}
import org.apache.spark.holdfast.FakeTask
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.FileOperation.{Delete, Finish}
import io.holdfast.testkit.{
  Background,
  FaultAt,
  FileOperation,
  FileOperations,
  Gate,
  LocalFileManager,
  LoggedWarnings,
  Provider,
  Put,
  TestStore
}

/** A version is made once more when there is, or may be, a snapshot of it. */
class ReplacedSnapshotsSuite extends AnyFunSuite {
  import ReplacedSnapshotsSuite._

  private def using[A](operations: FileOperations)(body: TestStore => A): A =
    TestStore.use(Provider().minDeltas(1).watched(operations)) { store =>
      store.commit(0, Put("a", 1))
      store.commit(1, Put("a", 10))
      body(store)
    }

  // Makes the second version once more; its own snapshot is written beside.
  private def again(store: TestStore, count: Long): Unit = {
    val _ = store.commit(1, Put("a", count))
    store.awaitSnapshots()
  }

  private def fails(store: TestStore): Unit = {
    val said = LoggedWarnings.of(classOf[SnapshotMaintenance])(store.provider.doMaintenance())
    assert(said.exists(_.contains("could not write a snapshot")))
    assert(store.fileNames.contains(Snapshot))
    ()
  }

  // Maintenance may list the folder while the first batch runs.
  for {
    before <- Seq("", ", though maintenance comes before the first")
    // Where checkpoint format 1 has them (Spark 4.1): in both runs, or in the one before.
    (checksums, had, has) <- Seq(
      ("", false, false),
      (", with file checksums", true, true),
      (", without the file checksums of then", true, false))
  }
    test(
      "a query that was set back to its beginning keeps no snapshot of the versions it comes to again" +
        before + checksums) {
      def settings(checksums: Boolean) =
        Provider().minDeltas(1).set(Provider.FileChecksums -> checksums)
      TestStore.use(settings(had)) { earlier =>
        (0L until 4L).foreach { version =>
          earlier.commit(version, Put("a", version))
          earlier.provider.doMaintenance()
        }
        assert(earlier.fileNames.count(_.endsWith(".snapshot")) == 2)
        earlier.close()
        Using.resource(new TestStore(settings(has), earlier.root)) { store =>
          if (before.nonEmpty) store.provider.doMaintenance()
          (0L until 4L).foreach { version =>
            store.commit(version, Put("b", version))
            assert(store.stateFromFiles(version + 1) == store.state(version + 1))
            store.awaitSnapshots()
            assert(store.stateFromFiles(version + 1) == store.state(version + 1))
          }
        }
      }
    }

  // Found by the simulator, seeds 49699 and 59415.
  test("a snapshot that has appeared though its answer was lost goes with its attempt") {
    using(new Failing(Finish, FaultAt.AfterIt)) { store =>
      fails(store)
      again(store, 20)
      store.reopen()
      assert(store.counts(2) == Map("a" -> 20L))
    }
  }

  // Found by the simulator, seeds 73954 and 94067.
  test(
    "a snapshot that a restarted query finds goes, also where listings of the folder come late") {
    val late = Provider().minDeltas(1).copy(fileManager = classOf[LateListings].getName)
    TestStore.use(late) { store =>
      store.commit(0, Put("a", 1))
      store.commit(1, Put("a", 10))
      store.provider.doMaintenance()
      assert(store.fileNames.contains(Snapshot))
      store.reopen()
      again(store, 20)
      val inTime = new TestStore(Provider(), store.root)
      try assert(inTime.counts(2) == Map("a" -> 20L))
      finally inTime.close()
    }
  }

  test(
    "where the snapshot cannot be deleted the attempt before counts, and the next one tries again") {
    using(new Failing(Delete, FaultAt.InItsPlace)) { store =>
      store.provider.doMaintenance()
      intercept[Exception](again(store, 20))
      assert(store.counts(2) == Map("a" -> 10L))
      again(store, 30)
      store.reopen()
      assert(store.counts(2) == Map("a" -> 30L))
    }
  }

  // It made the version before, so no load has shown it the folder.
  private def afterAnother(body: TestStore => Unit): Assertion =
    TestStore.use(Provider().minDeltas(1)) { store =>
      store.commit(0, Put("a", 1))
      val other = new TestStore(store.settings, store.root)
      try {
        other.commit(1, Put("a", 10))
        other.provider.doMaintenance()
        assert(store.fileNames.contains(Snapshot))
        body(store)
        other.reopen()
        assert(other.counts(2) == Map("a" -> 20L))
      } finally other.close()
    }

  test("a task that is tried again in another executor does not keep the snapshot of its attempt") {
    afterAnother(store => FakeTask.again()(again(store, 20)))
  }

  test("maintenance replaces the snapshot of an attempt before, of which nobody has told") {
    afterAnother { store =>
      // Between two attempts there is some time.
      val old = Files.getLastModifiedTime(store.folder.resolve(Snapshot)).toMillis - 1000
      Files.setLastModifiedTime(store.folder.resolve(Snapshot), FileTime.fromMillis(old))
      val _ = store.commit(1, Put("a", 20))
      store.provider.doMaintenance()
    }
  }

  test("the snapshot of an attempt never appears after the delta of another one") {
    val order = new Order
    using(order) { store =>
      val maintenance = new Background(store.provider.doMaintenance())
      order.gate.awaitArrival()
      val retry = new Background(again(store, 20))
      retry.awaitWaiting()
      order.gate.open()
      maintenance.result()
      retry.result()
      // What follows is the snapshot of the other one, which is written beside.
      val happened = order.happened.asScala.toSeq.dropWhile(_.file != Snapshot).take(3)
      val finished = FileOperation(Finish, Snapshot)
      assert(
        happened == Seq(finished, FileOperation(Delete, Snapshot), FileOperation(Finish, Delta)))
      store.reopen()
      assert(store.counts(2) == Map("a" -> 20L))
    }
  }
}

object ReplacedSnapshotsSuite {
  private val Delta = "2.delta"
  private val Snapshot = "2.snapshot"

  /** Does not show that the snapshot is there. */
  private final class LateListings(root: Path, conf: Configuration)
      extends LocalFileManager(root, conf) {
    override def list(path: Path, filter: PathFilter): Array[FileStatus] =
      super.list(path, filter).filter(_.getPath.getName != Snapshot)
  }

  /** Lets one operation with the snapshot fail. */
  private final class Failing(kind: FileOperation.Kind, when: FaultAt.When) extends FileOperations {
    @volatile private var failed = false

    override def around[A](operation: FileOperation)(proceed: => A): A =
      if (failed || operation != FileOperation(kind, Snapshot)) proceed
      else {
        failed = true
        if (when == FaultAt.AfterIt) { val _ = proceed }
        throw new FaultAt.Fault(operation)
      }
  }

  /** Holds up the moment when the snapshot appears, and notes what comes and goes in the folder. */
  private final class Order extends FileOperations {
    val gate = new Gate(Finish, Snapshot)
    val happened = new ConcurrentLinkedQueue[FileOperation]

    override def around[A](operation: FileOperation)(proceed: => A): A = {
      val done = gate.around(operation)(proceed)
      if (operation.kind == Finish || operation.kind == Delete) happened.add(operation)
      done
    }
  }
}
