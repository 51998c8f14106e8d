package io.holdfast.refusals

import java.io.IOException

import org.apache.spark.{SparkException, SparkThrowable}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.SurroundedProvider
import io.holdfast.testkit.{
  FileOperation,
  FileOperations,
  Provider,
  Put,
  TemporaryFolder,
  TestStore
}

/** The message of the error that a task ends with is all that a user sees of it: it says which version
  * of which store, why, in which file, and what to do, and its class is Spark's.
  */
class FirstLineSuite extends AnyFunSuite {

  private def check(e: Throwable, condition: String)(words: String*): Assertion = {
    assert(e.asInstanceOf[SparkThrowable].getCondition == condition)
    val line = e.getMessage
    assert(!line.contains("\n"))
    assert(line.startsWith(s"[$condition] ") && line.contains(" Version "))
    assert(line.endsWith(" SQLSTATE: 58030"))
    assert(!line.contains("..") && !line.contains("  "), "- a sentence ends twice")
    val missing = words.filterNot(line.contains(_))
    assert(missing.isEmpty, s"- not in: $line")
  }

  private def place(test: TestStore): String = s"operator 0, partition 0 of ${test.root}"

  private def unreadable(settings: Provider = Provider())(damage: TestStore => Any)(
      check: (TestStore, Throwable) => Any): Unit = TestStore.use(settings) { test =>
    (0L until 3L).foreach(version => test.commit(version, Put("a", version)))
    damage(test)
    test.reopen()
    check(test, intercept[SparkException](test.write(3)))
    ()
  }

  test("a file that is cut off") {
    unreadable()(test => test.overwrite("2.delta", test.bytes("2.delta").take(10))) { (test, e) =>
      check(e, "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED")(
        s"Version 3 of ${place(test)} cannot be loaded: delta file",
        s"${test.folder}/2.delta of version 2 is damaged at byte",
        s"run: holdfast verify ${test.root}")
      assert(e.getCause.isInstanceOf[io.holdfast.file.StateFileException])
    }
  }

  test("a snapshot that no repair can make up for") {
    val repairing = Provider().set(
      SQLConf.STATE_STORE_AUTO_SNAPSHOT_REPAIR_ENABLED.key -> true,
      SQLConf.STATE_STORE_AUTO_SNAPSHOT_REPAIR_NUM_FAILURES_BEFORE_ACTIVATING.key -> 1,
      SQLConf.STATE_STORE_AUTO_SNAPSHOT_REPAIR_MAX_CHANGE_FILE_REPLAY.key -> 1)
    TestStore.use(repairing) { test =>
      (0L until 3L).foreach(version => test.commit(version, Put("a", version)))
      test.commitWithSnapshot(3, Put("a", 3))
      test.overwrite("4.snapshot", test.bytes("4.snapshot").take(10))
      test.reopen()
      check(intercept[SparkException](test.write(4)), "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED")(
        "cannot be loaded: snapshot file",
        s"${test.folder}/4.snapshot of version 4 is damaged at byte")
    }
  }

  test("a row that is not as it was written") {
    unreadable(Provider().rowChecksums(true)) { test =>
      val other = new TestStore(Provider().rowChecksums(false), test.root)
      try {
        test.delete("2.delta")
        other.commit(1, Put("a", 7))
      } finally other.close()
    } { (_, e) =>
      check(e, "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED")("Version 3 of", "2.delta of version 2")
    }
  }

  test("a file that is gone") {
    unreadable()(_.delete("2.delta")) { (test, e) =>
      check(e, "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS")(
        s"Version 3 of ${place(test)} cannot be loaded: ",
        "needs the changes of version 2, and there is neither",
        s"run: holdfast verify ${test.root}")
    }
  }

  test("a version that nobody wrote") {
    unreadable()(_.delete("3.delta")) { (test, e) =>
      check(e, "CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE")(
        "3.delta",
        "If the query has a new stateful operator, it needs a new checkpoint location.",
        s"run: holdfast verify ${test.root}")
    }
  }

  test("a file that may not be read, in a folder whose name a shell would take apart") {
    TemporaryFolder.use { folder =>
      val root = folder.resolve("my check's point")
      val operations = new FailingWith("Permission denied", FileOperation.Open)
      val test = new TestStore(Provider().watched(operations), root)
      try {
        test.commit(0, Put("a", 1))
        test.reopen()
        val e = intercept[SparkException](test.write(1))
        check(e, "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED")(
          "IOException: Permission denied.",
          s"run: holdfast verify '$folder/my check'\\''s point'")
      } finally test.close()
    }
  }

  test("state that does not fit into the limit, told in a unit that suits it") {
    val limit = "spark.sql.streaming.stateStore.holdfast.memoryLimit"
    TestStore.use() { test =>
      test.commit(0, (0 until 2000).map(n => Put(s"name $n", n.toLong, "n" * 100)): _*)
      SurroundedProvider.begin()
      val limited = Provider().by(classOf[SurroundedProvider].getName).set(limit -> "20k")
      val small = new TestStore(limited, test.root)
      try {
        test.close()
        val e = intercept[SparkException](small.write(1))
        check(e, "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED")(
          "cannot be loaded: HoldfastStateStoreProvider[",
          s"$limit allows 20.0 KiB",
          "more memory")
        assert(!e.getMessage.contains("0.0 MiB") && !e.getMessage.contains("holdfast verify"))
      } finally small.close()
    }
  }

  test("a commit for which the disk has no room") {
    val operations = new FailingWith("No space left on device", FileOperation.Finish)
    TestStore.use(Provider().watched(operations)) { test =>
      val store = test.write(0)
      Put("a", 1).applyTo(store)
      val e = intercept[SparkException](store.commit())
      check(e, "CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT")(
        s"Version 1 of ${place(test)} cannot be committed: writing ",
        s"${test.folder}/1.delta failed with IOException: No space left on device.",
        "give it room and access, and start the query again.")
      store.abort()
    }
  }

  test("a commit that never reaches the disk") {
    TemporaryFolder.use { root =>
      val provider = Provider().codec("lzma").open(root)
      val store = provider.getStore(0, None)
      val e = intercept[SparkException](store.commit())
      check(e, "CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT")("Version 1 of", "lzma")
      assert(!e.getMessage.contains("room"))
      store.abort()
      provider.close()
    }
  }

  /** Makes every operation of a kind fail. */
  private final class FailingWith(message: String, kind: FileOperation.Kind)
      extends FileOperations {
    override def around[A](operation: FileOperation)(proceed: => A): A =
      if (operation.kind == kind) throw new IOException(message) else proceed
  }
}
