package io.holdfast.provider

import scala.collection.mutable
import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkThrowable
import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.holdfast.testkit._

/** The life of a store, with each of its file operations failing in turn: Spark's error says so, no
  * version before it is harmed in memory or on disk, and the same again succeeds. What fails beside a
  * batch, such as a snapshot that it asked for, is not the batch's failure.
  */
class FileSystemFaultsSuite extends AnyFunSuite {
  import FileSystemFaultsSuite.Life

  for {
    codec <- Provider.codecs
    when <- Seq(FaultAt.InItsPlace, FaultAt.AfterIt)
    // How a file is compressed is the same for each Spark line.
    tags = if (codec == Provider.codecs.head) Nil else Seq(Slow)
  } faults(s"a store with $codec files", Provider().codec(codec), when, tags: _*)

  for (when <- Seq(FaultAt.InItsPlace, FaultAt.AfterIt)) {
    faults("a store whose changes another thread writes", CommitBesideSuite.beside, when)
  }

  private def faults(store: String, provider: Provider, when: FaultAt.When, tags: Tag*): Unit =
    test(s"any file operation of $store may fail, $when", tags: _*) {
      val settings = provider.minDeltas(1).retained(2).inMemory(1)
      val faultless = new FaultAt(Int.MaxValue, when)
      new Life(settings, faultless).run()
      assert(faultless.count > 40)

      (0 until faultless.count).foreach { number =>
        val fault = new FaultAt(number, when)
        withClue(s"operation $number: ")(new Life(settings, fault).run())
        assert(fault.failedOperation.isDefined)
      }
    }
}

object FileSystemFaultsSuite {
  import org.scalatest.Assertions._

  private final class Life(settings: Provider, fault: FaultAt) {
    private val states = mutable.Map[Long, TestRows.State](0L -> Map.empty)
    private var newest = 0L
    private var oldestKept = 0L

    def run(): Unit = TemporaryFolder.use { root =>
      val store = new Watched(root)
      store.commit(Put("a", 1, "n" * 200), Put("b", 2))
      store.commit(Put("a", 3), Remove("b"), Put("c", 4))
      store.maintain()
      store.commitWithSnapshot(Put("d", 5))
      store.commit(Remove("a"), Put("e", 6))
      store.maintain()
      store.reopen()
      store.commit(Put("f", 7))
      store.maintain()
      store.reopen()
      store.commit()
      store.close()
    }

    private final class Watched(root: java.nio.file.Path) {
      private var store = again("CANNOT_")(new TestStore(settings.watched(fault), root))

      def commit(changes: Change*): Unit = commit(_.commit(newest, changes: _*), changes)

      def commitWithSnapshot(changes: Change*): Unit =
        commit(_.commitWithSnapshot(newest, changes: _*), changes, isOfSnapshot)

      def maintain(): Unit = {
        // Its errors are logged, and the next call does what was left.
        store.provider.doMaintenance()
        oldestKept = oldestKept.max(newest - 2)
        checkIntact()
        store.provider.doMaintenance()
        checkIntact()
      }

      def reopen(): Unit = {
        store.close()
        store = again("CANNOT_")(new TestStore(settings.watched(fault), root))
        again("CANNOT_LOAD_STATE_STORE.")(store.state(newest))
        checkIntact()
      }

      def close(): Unit = store.close()

      private def commit(
          attempt: TestStore => Long,
          changes: Seq[Change],
          isBeside: FileOperation => Boolean = _ => false): Unit = {
        val version = again("CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT", isBeside)(attempt(store))
        assert(version == newest + 1)
        states(version) = changes.foldLeft(states(newest))((rows, change) => change.applyTo(rows))
        newest = version
        checkIntact()
      }

      // Does it again if it failed, which it does exactly if the fault came up. Only of a delta that
      // is read ahead, and beside a batch, the fault may be overcome.
      private def again[A](condition: String, isBeside: FileOperation => Boolean = _ => false)(
          body: => A): A = {
        val before = fault.failedOperation
        Try(body) match {
          case Success(result) =>
            val unreported = fault.failedOperation.filter(_ => before.isEmpty)
            assert(unreported.forall(fault => isReadOfDelta(fault) || isBeside(fault)))
            result
          case Failure(error) =>
            assert(before.isEmpty)
            assertReports(error, condition)
            if (store != null) checkIntact()
            body
        }
      }

      // Before a snapshot appears, the folder is looked at.
      private def isOfSnapshot(operation: FileOperation): Boolean =
        operation.file.endsWith(".snapshot") || operation.kind == FileOperation.ListFolder

      private def isReadOfDelta(operation: FileOperation): Boolean =
        operation.file.endsWith(".delta") &&
          Set[FileOperation.Kind](FileOperation.Open, FileOperation.Read)(operation.kind)

      private def assertReports(error: Throwable, condition: String): Unit = {
        val causes = Iterator.iterate(error)(_.getCause).takeWhile(_ != null).toList
        assert(causes.exists(_.isInstanceOf[FaultAt.Fault]), error)
        error match {
          case spark: SparkThrowable => assert(Refusals.is(spark, condition))
          // What Spark's init throws is what the file system threw.
          case other => assert(other.isInstanceOf[FaultAt.Fault])
        }
        ()
      }

      private def checkIntact(): Unit = {
        assert(store.state(newest) == states(newest))
        (oldestKept.max(1L) to newest).foreach { version =>
          val found = new TestStore(settings, root)
          try assert(found.state(version) == states(version), s"- as version $version")
          finally found.close()
        }
        if (!leavesTemporaryFile) assert(store.files.keys.forall(!_.endsWith(".tmp")))
        ()
      }

      private def leavesTemporaryFile: Boolean = fault.failedOperation.map(_.kind).exists {
        case FileOperation.Create | FileOperation.Cancel => true
        case _ => false
      }
    }
  }
}
