package io.holdfast.provider

import scala.util.Using

import org.apache.spark.SparkException
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.conf.HoldfastConf
import io.holdfast.memory.MemoryLimitException
import io.holdfast.testkit._

/** What becomes of a snapshot that cannot be read, by the three settings of
  * `spark.sql.streaming.stateStore.autoSnapshotRepair`.
  */
class SnapshotRepairSuite extends AnyFunSuite {

  private val repaired = "numSnapshotsAutoRepaired"

  private val state = (1 to 4).map(version => s"k$version" -> version.toLong).toMap

  /** Repairs a snapshot that could not be read in some attempts, by replaying some deltas at most. */
  private def repairing(attempts: Int = 1, deltas: Int = 10): Provider = Provider().set(
    SQLConf.STATE_STORE_AUTO_SNAPSHOT_REPAIR_ENABLED.key -> true,
    SQLConf.STATE_STORE_AUTO_SNAPSHOT_REPAIR_NUM_FAILURES_BEFORE_ACTIVATING.key -> attempts,
    SQLConf.STATE_STORE_AUTO_SNAPSHOT_REPAIR_MAX_CHANGE_FILE_REPLAY.key -> deltas)

  /** Four versions with snapshots of the second and the fourth, which is damaged. */
  private def damaged[A](settings: Provider)(body: TestStore => A): A =
    TestStore.use(settings) { store =>
      def put(version: Int): Change = Put(s"k$version", version)
      store.commit(0, put(1))
      store.commitWithSnapshot(1, put(2))
      store.commit(2, put(3))
      store.commitWithSnapshot(3, put(4))
      store.overwrite("4.snapshot", store.bytes("4.snapshot").take(20))
      store.reopen()
      body(store)
    }

  private def assertRefused(store: TestStore, condition: String): Unit = {
    val before = store.files
    val e = intercept[SparkException](store.read(4))
    assert(e.getCondition.startsWith("CANNOT_LOAD_STATE_STORE."))
    val causes = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null)
    assert(causes.exists(_.toString.contains(condition)), e)
    assert(store.files == before)
    ()
  }

  test("it is refused, though there are deltas, unless it may be repaired") {
    damaged(Provider())(assertRefused(_, "4.snapshot"))
  }

  test("it is passed over for an older one, and the metrics count that") {
    damaged(repairing()) { store =>
      val open = store.write(4)
      assert(TestRows.counts(open) == state)
      assert(CustomMetrics(open, repaired) == 1)
      assert(CustomMetrics(open, "holdfastReplayedFiles") == 2)
      open.abort()
      val again = store.write(4)
      assert(CustomMetrics(again, repaired) == 0)
      again.abort()
    }
  }

  test("where no snapshot can be read, all deltas are replayed") {
    damaged(repairing()) { store =>
      store.overwrite("2.snapshot", Array[Byte](1, 2, 3))
      assert(store.counts(4) == state)
    }
  }

  test("where deltas are missing, it is refused") {
    damaged(repairing()) { store =>
      Seq("1.delta", "2.snapshot").foreach(store.delete)
      assertRefused(store, "1.delta")
    }
  }

  test("a snapshot that the memory limit refuses is not passed over for one that needs as much") {
    TestStore.use(repairing()) { store =>
      store.commitWithSnapshot(0, rows(1): _*)
      store.commitWithSnapshot(1, rows(2): _*)
      Seq("1.delta", "2.delta").foreach(store.delete)
      val opened = new CountOperations(_ == FileOperation(FileOperation.Open, "1.snapshot"))
      val limited = repairing().set(HoldfastConf.MemoryLimit.name -> "2m").watched(opened)
      Using.resource(new TestStore(limited, store.root)) { small =>
        val e = intercept[SparkException](small.read(2))
        assert(e.getCause.isInstanceOf[MemoryLimitException])
        assert(opened.count == 0)
      }
    }
  }

  private def rows(count: Long): Seq[Change] = (1 to 50000).map(i => Put(s"k$i", count))

  test("it is tried as often as numFailuresBeforeActivating says") {
    Seq(1, 3).foreach { attempts =>
      val opened =
        new CountOperations(_ == FileOperation(FileOperation.Open, "4.snapshot"))
      damaged(repairing(attempts = attempts).watched(opened)) { store =>
        assert(store.counts(4) == state)
        assert(opened.count == attempts)
      }
    }
  }

  test("a snapshot that can be read at the second attempt needs no repair") {
    val flaky = new FailOnce("4.snapshot")
    TestStore.use(repairing(attempts = 2).watched(flaky)) { store =>
      (0L until 3L).foreach(version => store.commit(version, Put("a", version)))
      store.commitWithSnapshot(3, Put("a", 3))
      store.reopen()
      val open = store.write(4)
      assert(flaky.failed)
      assert(TestRows.counts(open) == Map("a" -> 3L))
      assert(CustomMetrics(open, repaired) == 0)
      open.abort()
    }
  }

  test("it is not repaired by replaying more deltas than maxChangeFileReplay") {
    damaged(repairing(deltas = 2))(store => assert(store.counts(4) == state))
    damaged(repairing(deltas = 1))(assertRefused(_, "AUTO_SNAPSHOT_REPAIR_FAILED"))
  }

  private final class FailOnce(file: String) extends FileOperations {
    @volatile var failed = false

    override def around[A](operation: FileOperation)(proceed: => A): A =
      if (failed || operation != FileOperation(FileOperation.Open, file)) proceed
      else {
        failed = true
        throw new FaultAt.Fault(operation)
      }
  }
}
