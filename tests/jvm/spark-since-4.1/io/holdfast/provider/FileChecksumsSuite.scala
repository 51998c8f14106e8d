package io.holdfast.provider

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkException
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit._

/** Spark's checksums of checkpoint files (`spark.sql.streaming.checkpoint.fileChecksum.enabled`),
  * which come with checkpoint format 2.
  */
class FileChecksumsSuite extends AnyFunSuite {

  private val Suffix = ".crc"

  /** @param threads
    *   how many read and write checksums, 0 for those of the tasks
    */
  private def settings(checksums: Boolean = true, threads: Int = 0): Provider = Provider()
    .minDeltas(2)
    .retained(1)
    .set(
      SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> 2,
      SQLConf.STREAMING_CHECKPOINT_FILE_CHECKSUM_ENABLED.key -> checksums,
      "spark.sql.streaming.stateStore.fileChecksumThreadPoolSize" -> threads)

  /** Versions with their ids. */
  private final class Versions(
      store: TestStore,
      known: Map[Long, Option[String]] = Map(0L -> None)) {
    private var ids = known

    def commit(from: Long, changes: Change*): Unit = {
      val open = store.provider.getStore(from, ids(from))
      changes.foreach(_.applyTo(open))
      open.commit()
      ids = ids.updated(from + 1, open.getStateStoreCheckpointInfo().stateStoreCkptId)
    }

    def id(version: Long): Option[String] = ids(version)

    def counts(version: Long): Map[String, Long] =
      TestRows.counts(store.provider.getReadStore(version, ids(version)))

    /** The same, as they go on in another store. */
    def in(other: TestStore): Versions = new Versions(other, ids)

    def file(version: Long, suffix: String): String = s"${version}_${ids(version).get}.$suffix"
  }

  private def use[A](settings: Provider)(body: (TestStore, Versions) => A): A =
    TestStore.use(settings)(store => body(store, new Versions(store)))

  private def stateFiles(store: TestStore): Seq[String] =
    store.fileNames.filterNot(_.endsWith(Suffix))

  private def withChecksums(store: TestStore): Seq[String] =
    store.fileNames.filter(_.endsWith(Suffix)).map(_.stripSuffix(Suffix))

  for (threads <- Seq(0, 4)) {
    test(s"every state file has one beside it, and goes with it, by $threads threads") {
      use(settings(threads = threads)) { (store, versions) =>
        (0L until 8L).foreach { version =>
          versions.commit(version, Put("a", version))
          store.provider.doMaintenance()
          assert(withChecksums(store) == stateFiles(store))
        }
        assert(stateFiles(store).exists(_.endsWith(".snapshot")))
        assert(!stateFiles(store).exists(_.startsWith("1_")))
        store.reopen()
        assert(versions.counts(8) == Map("a" -> 7L))
      }
    }

    test(s"a file that is not what its checksum says is refused, by $threads threads") {
      use(settings(threads = threads)) { (store, versions) =>
        versions.commit(0, Put("a", 1))
        versions.commit(1, Put("a", 2))
        // Whole and readable, but not the file that was written.
        store.overwrite(versions.file(2, "delta"), store.bytes(versions.file(1, "delta")))
        store.reopen()
        val before = store.files
        val e = intercept[SparkException](versions.counts(2))
        assert(e.getCondition.startsWith("CANNOT_LOAD_STATE_STORE."))
        val checksum = e.getCause match {
          case cause: SparkException => cause
          case other => fail(s"expected Spark's error as the cause, found $other", e)
        }
        assert(checksum.getCondition == "CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED")
        assert(checksum.getMessage.contains(versions.file(2, "delta")))
        assert(store.files == before)
        assert(versions.counts(1) == Map("a" -> 1L))
      }
    }
  }

  private def threadsOfChecksums: Set[Thread] =
    Thread.getAllStackTraces.keySet.asScala.toSet
      .filter(_.getName.contains("ChecksumCheckpointFileManager"))

  test("a store whose provider is closed while a task is in it commits, and its threads end then") {
    use(settings(threads = 4)) { (store, versions) =>
      versions.commit(0, Put("a", 1))
      val before = threadsOfChecksums
      store.reopen()
      val open = store.provider.getStore(1, versions.id(1))
      Put("b", 2).applyTo(open)
      store.provider.close()
      Put("c", 3).applyTo(open)
      val own = threadsOfChecksums -- before
      assert(own.nonEmpty)
      open.commit()
      own.foreach(_.join())
      store.reopen()
      val id = open.getStateStoreCheckpointInfo().stateStoreCkptId
      assert(
        TestRows.counts(store.provider.getReadStore(2, id)) == Map("a" -> 1L, "b" -> 2L, "c" -> 3L))
    }
  }

  test("without them none is written, and none is asked for") {
    use(settings(checksums = false)) { (store, versions) =>
      versions.commit(0, Put("a", 1))
      assert(withChecksums(store).isEmpty)
      store.overwrite(versions.file(1, "delta"), store.bytes(versions.file(1, "delta")))
      store.reopen()
      assert(versions.counts(1) == Map("a" -> 1L))
    }
  }

  test("a query that goes on without them leaves none behind when it cleans up") {
    TemporaryFolder.use { root =>
      val before = new TestStore(settings(), root)
      val first = new Versions(before)
      first.commit(0, Put("a", 1))
      assert(withChecksums(before).size == 1)
      before.close()

      val without = new TestStore(settings(checksums = false), root)
      val versions = first.in(without)
      (1L until 8L).foreach { version =>
        versions.commit(version, Put("a", version))
        without.provider.doMaintenance()
      }
      assert(withChecksums(without).isEmpty)
      assert(!stateFiles(without).exists(_.startsWith("1_")))
      without.close()
    }
  }
}
