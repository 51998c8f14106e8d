package io.holdfast.refusals

import java.nio.file.Path

import org.apache.spark.sql.execution.streaming.state.{
  NoPrefixKeyStateEncoderSpec,
  StateStore,
  SupportsFineGrainedReplay
}
import org.apache.spark.{SparkException, SparkThrowable}
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, TemporaryFolder, TestRows, TestStore}

/** What cannot be done is refused with Spark's error class and a sentence, and changes nothing. */
class BadInputSuite extends AnyFunSuite {

  /** Runs something that is refused, and checks that files and rows are as they were. */
  private def refused(test: TestStore, condition: String)(body: => Any): Throwable = {
    val before = test.files
    val e = intercept[Throwable](body)
    e match {
      case spark: SparkThrowable => assert(spark.getCondition === condition)
      case other => fail(s"expected an error of class $condition", other)
    }
    assert(test.files === before)
    e
  }

  private def messages(e: Throwable): String =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString("\n")

  private def twoVersions(body: TestStore => Any): Assertion =
    TestStore.use() { test =>
      test.commit(0, Put("a", 1))
      test.commit(1, Put("b", 2))
      body(test)
      test.reopen()
      assert(test.counts(2) === Map("a" -> 1L, "b" -> 2L))
    }

  test("a negative version") {
    twoVersions { test =>
      val e = refused(test, "CANNOT_LOAD_STATE_STORE.UNEXPECTED_VERSION")(test.write(-1))
      assert(e.getMessage.contains("-1"))
      refused(test, "CANNOT_LOAD_STATE_STORE.UNEXPECTED_VERSION")(test.read(-7))
      refused(test, "CANNOT_LOAD_STATE_STORE.UNEXPECTED_VERSION") {
        test.provider.asInstanceOf[SupportsFineGrainedReplay].replayReadStateFromSnapshot(2, 1)
      }
    }
  }

  test("a version with a checkpoint id is nothing to start from in checkpoint format 1") {
    twoVersions { test =>
      val id = Some("0123456789abcdef0123456789abcdef-none")
      val condition = "STATE_STORE_CHECKPOINT_IDS_NOT_SUPPORTED"
      val e = refused(test, condition)(test.provider.getStore(2, id))
      assert(e.getMessage.contains("checkpointFormatVersion is 1 now: set it to 2"))
      val read = test.read(2)
      refused(test, condition)(test.provider.upgradeReadStoreToWriteStore(read, 2, id))
      read.abort()
    }
  }

  test("a version that nobody wrote is named by the file it would have") {
    twoVersions { test =>
      val e = refused(test, "CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE") {
        test.write(3)
      }
      assert(e.getMessage.contains("3.delta"))
    }
  }

  test("a missing delta in the chain is named with the version that needs it") {
    TestStore.use() { test =>
      (0L until 4L).foreach(version => test.commit(version, Put("a", version)))
      test.delete("2.delta")
      test.reopen()
      val e = refused(test, "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS") {
        test.write(4)
      }
      assert(e.getMessage.contains("2.delta"))
      assert(messages(e).contains("version 4"))
      assert(messages(e).contains("restore the file"))
      // What does not need the file is still there.
      assert(test.counts(1) === Map("a" -> 0L))
    }
  }

  test("a snapshot that is asked for and is not there") {
    twoVersions { test =>
      test.reopen()
      // Spark wraps its own error of this class in an uncategorised one (`cannotLoadStore`, 4.2).
      val e = refused(test, "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED") {
        test.provider.asInstanceOf[SupportsFineGrainedReplay].replayReadStateFromSnapshot(1, 2)
      }
      assert(messages(e).contains("CANNOT_READ_MISSING_SNAPSHOT_FILE"))
      assert(messages(e).contains("1.snapshot"))
    }
  }

  test("a codec that does not exist") {
    TemporaryFolder.use { root =>
      val provider = Provider().codec("lzma").open(root)
      val store = provider.getStore(0, None)
      Put("a", 1).applyTo(store)
      val e = intercept[SparkException](store.commit())
      assert(e.getCondition === "CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT")
      assert(messages(e).contains("lzma"))
      assert(!store.hasCommitted)
      store.abort()
      provider.close()
    }
  }

  private def refusedAtInit(condition: String)(open: Path => Any): Assertion =
    TemporaryFolder.use { root =>
      val e = intercept[Throwable](open(root))
      assert(e.asInstanceOf[SparkThrowable].getCondition === condition)
      assert(e.getMessage.contains("HoldfastStateStoreProvider"))
      assert(root.toFile.list().isEmpty, "a refused store has made files")
    }

  test("several values for a key without column families, before anything is made") {
    refusedAtInit("STATE_STORE_UNSUPPORTED_OPERATION") { root =>
      Provider().openEncoded(root, multipleValues = true)
    }
  }

  test("operations of column families, several values and scans on a store without them") {
    twoVersions { test =>
      val unsupported = "STATE_STORE_UNSUPPORTED_OPERATION"
      val families = "UNSUPPORTED_FEATURE.STATE_STORE_MULTIPLE_COLUMN_FAMILIES"
      val key = TestRows.key("a").copy()
      val value = TestRows.value(1).copy()
      val default = StateStore.DEFAULT_COL_FAMILY_NAME
      val spec = NoPrefixKeyStateEncoderSpec(TestRows.keySchema)
      val operations = Seq[(String, StateStore => Any)](
        families -> (_.get(key, "other")),
        families -> (_.put(key, value, "other")),
        families -> (_.remove(key, "other")),
        families -> (_.iterator("other")),
        families -> (_.createColFamilyIfAbsent(
          "other",
          TestRows.keySchema,
          TestRows.valueSchema,
          spec)),
        "UNSUPPORTED_FEATURE.STATE_STORE_REMOVING_COLUMN_FAMILIES" ->
          (_.removeColFamilyIfExists("other")),
        unsupported -> (_.valuesIterator(key, default)),
        unsupported -> (_.merge(key, value, default)),
        unsupported -> (_.mergeList(key, Array(value), default)),
        unsupported -> (_.putList(key, Array(value), default)),
        unsupported -> (_.prefixScan(key, default)),
        unsupported -> (_.rangeScan(None, None, default)),
        unsupported -> (_.prefixScanWithMultiValues(key, default)),
        unsupported -> (_.iteratorWithMultiValues(default)))
      val store = test.write(2)
      operations.foreach { case (condition, operation) =>
        refused(test, condition)(operation(store))
      }
      store.abort()
    }
  }

  test("changes and a second commit after the end of a store") {
    twoVersions { test =>
      val store = test.write(2)
      store.abort()
      val e = intercept[IllegalStateException](Put("c", 3).applyTo(store))
      assert(e.getMessage.contains("Cannot put after already committed or aborted"))
      refused(test, "CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT")(store.commit())
    }
  }

  test("of two attempts at a version the last one to commit is in memory and in the file") {
    TestStore.use() { test =>
      test.commit(0, Put("a", 1))
      val first = test.write(1)
      val second = test.write(1)
      Put("a", 10).applyTo(first)
      Put("a", 20).applyTo(second)
      val third = test.write(1)
      Put("a", 30).applyTo(third)
      second.commit()
      first.commit()
      third.abort()
      assert(test.counts(2) === Map("a" -> 10L))
      test.reopen()
      assert(test.counts(2) === Map("a" -> 10L))
    }
  }

  test("a snapshot of an attempt that was replaced is replaced with it") {
    TestStore.use() { test =>
      test.commit(0, Put("a", 1))
      test.commitWithSnapshot(1, Put("a", 10))
      test.commit(1, Put("a", 20))
      test.awaitSnapshots()
      test.reopen()
      assert(test.fileNames.contains("2.snapshot"))
      assert(test.counts(2) === Map("a" -> 20L))
    }
  }

  test("an iterator is good after its store has committed") {
    TestStore.use() { test =>
      val store = test.write(0)
      (1 to 100).foreach(n => Put(s"k$n", n.toLong).applyTo(store))
      val rows = store.iterator()
      store.commit()
      (1L to 5L).foreach(version => test.commit(version, Put("k1", version)))
      assert(TestRows.counts(rows).size === 100)
    }
  }
}
