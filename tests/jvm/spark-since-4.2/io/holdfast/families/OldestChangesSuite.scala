package io.holdfast.families

import org.apache.spark.SparkException
import org.apache.spark.sql.execution.streaming.state.RecordType.{MERGE_RECORD, PUT_RECORD}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, TestStore}

/** The change feed of a column family where the files of the versions before are gone. */
class OldestChangesSuite extends AnyFunSuite with FamilyFeed {
  import FamilyFeed._

  /** Twenty batches with a cleanup after each, then all that is shown from the oldest changes on that are
    * still there.
    */
  private def shownAfterCleanup(provider: Provider, kind: Kind, told: Boolean): (Long, Seq[Shown]) =
    use(provider.minDeltas(2).retained(2)) { test =>
      (0L until 20L).foreach { version =>
        commit(test, version, Seq(kind)) { store =>
          if (kind.hasLists) store.merge(kind.key, kind.value(version), kind.name)
          else store.put(kind.key, kind.value(version), kind.name)
        }
        test.provider.doMaintenance()
      }
      val oldest = oldestChanges(test)
      assert(oldest > 1 && !test.fileNames.exists(_.startsWith(s"${oldest - 1}.")))
      (oldest, feed(test, oldest, 20, kind, told))
    }

  private def oldestChanges(test: TestStore): Long =
    test.fileNames
      .filter(name => name.endsWith(".delta") || name.endsWith(".changelog"))
      .map(_.takeWhile(_.isDigit).toLong)
      .min

  for {
    hasLists <- Seq(false, true)
    (who, provider, told) <- Seq(
      ("RocksDB", RocksDB, true),
      ("Holdfast, which Spark has told of the family,", Provider(), true),
      ("Holdfast, which knows the files alone,", Provider(), false))
  } test(s"$who shows the oldest changes that are there: ${if (hasLists) "lists" else "values"}") {
    val kind = Kind(hasLists = hasLists)
    val (oldest, shown) = shownAfterCleanup(provider, kind, told)
    val what = if (hasLists) MERGE_RECORD else PUT_RECORD
    assert(shown == (oldest - 1 to 19).map(batch => (what, Some(Seq(batch)), batch)))
  }

  for (checksums <- Seq(false, true))
    test(s"with ids the oldest changes are shown that are there, file checksums=$checksums") {
      val settings = Provider()
        .set(
          "spark.sql.streaming.stateStore.checkpointFormatVersion" -> 2,
          Provider.FileChecksums -> checksums)
        .minDeltas(2)
        .retained(2)
      use(settings) { test =>
        val kind = Kind()
        val last = (0L until 20L).foldLeft(Option.empty[String]) { (id, version) =>
          val store = test.provider.getStore(version, id)
          kind.create(store)
          store.put(kind.key, kind.value(version), kind.name)
          store.commit()
          test.provider.doMaintenance()
          store.getStateStoreCheckpointInfo().stateStoreCkptId
        }
        val oldest = oldestChanges(test)
        assert(oldest > 1 && !test.fileNames.exists(_.startsWith(s"${oldest - 1}_")))
        test.reopen()
        val shown = this.shown(test, oldest, 20, kind, last)
        assert(shown == (oldest - 1 to 19).map(batch => (PUT_RECORD, Some(Seq(batch)), batch)))
        assert(test.versionsInMemory.isEmpty)
        val e = intercept[SparkException](this.shown(test, oldest - 1, 20, kind, last))
        assert(e.getCondition.endsWith(".CANNOT_READ_DELTA_FILE_NOT_EXISTS"))
      }
    }

  test("the rows of no version are read to show changes") {
    use(Provider().minDeltas(100)) { test =>
      val kind = Kind()
      (0L until 6L).foreach { version =>
        val store = test.write(version, forceSnapshot = version == 1)
        kind.create(store)
        store.put(kind.key, kind.value(version), kind.name)
        store.commit()
        test.awaitSnapshots()
      }
      assert(test.fileNames.filter(_.endsWith(".snapshot")) == Seq("2.snapshot"))
      (1L to 6L).foreach { from =>
        val shown = feed(test, from, 6, kind, told = false)
        assert(shown.map(_._3) == (from - 1 to 5))
        assert(test.versionsInMemory.isEmpty)
      }
    }
  }

  test("changes that are gone are named, and those that can be shown instead") {
    use(Provider()) { test =>
      val kind = Kind()
      (0L until 6L).foreach(version =>
        commit(test, version, Seq(kind))(_.put(kind.key, kind.value(version), kind.name)))
      test.delete("1.delta")
      test.delete("3.delta")
      def refused(from: Long, to: Long): String = {
        val e = intercept[SparkException](feed(test, from, to, kind, told = false))
        assert(e.getCondition.endsWith(".CANNOT_READ_DELTA_FILE_NOT_EXISTS"))
        e.getMessage
      }
      val message = refused(1, 6)
      Seq("The changes of version 1", "1.delta", "Set changeStartBatchId to 3 or later").foreach(
        said => assert(message.contains(said)))
      assert(!refused(1, 3).contains("changeStartBatchId"))
    }
  }
}
