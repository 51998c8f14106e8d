package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, TemporaryFolder, TestStore}

/** In format 1 the last attempt at a version counts, whoever made it: of two executors, or of two runs
  * of a query whose code was mended in between.
  */
class OtherAttemptsSuite extends AnyFunSuite {

  private val settings = Provider().minDeltas(1)

  private def two(body: (TestStore, TestStore) => Any): Unit = TemporaryFolder.use { root =>
    val one = new TestStore(settings, root)
    val other = new TestStore(settings, root)
    try { val _ = body(one, other) }
    finally {
      one.close()
      other.close()
    }
  }

  private def threeVersions(store: TestStore): Unit =
    Seq(1L, 2L, 10L).zipWithIndex.foreach { case (count, version) =>
      store.commit(version.toLong, Put("a", count))
    }

  test("the snapshot of an attempt is not written over the delta of another one that is as long") {
    two { (one, other) =>
      threeVersions(one)
      val bytes = one.bytes("3.delta").length
      other.commit(2, Put("a", 20))
      assert(other.bytes("3.delta").length == bytes)
      // Spark maintains a store once more when it unloads it.
      one.provider.doMaintenance()
      other.reopen()
      assert(other.counts(3) == Map("a" -> 20L))
    }
  }

  test("nor does it stay when it is written while another attempt is being made") {
    two { (one, other) =>
      threeVersions(one)
      val open = other.write(2)
      one.provider.doMaintenance()
      assert(one.fileNames.contains("3.snapshot"))
      Put("a", 20).applyTo(open)
      open.commit()
      other.awaitSnapshots()
      other.reopen()
      assert(other.counts(3) == Map("a" -> 20L))
    }
  }

  test("nor does that of a version to come, when the query was set back by several") {
    two { (one, other) =>
      (0L until 5L).foreach(version => one.commit(version, Put("a", version)))
      other.commit(1, Put("b", 1))
      one.provider.doMaintenance()
      assert(one.fileNames.contains("5.snapshot"))
      (2L until 5L).foreach(version => other.commit(version, Put("b", version)))
      other.awaitSnapshots()
      other.reopen()
      assert(other.counts(5) == Map("a" -> 0L, "b" -> 4L))
    }
  }

  for ((what, count) <- Seq("as long" -> 20L, "longer" -> Long.MaxValue)) {
    test(s"a version in memory is no base of deltas that follow another attempt's, which is $what") {
      two { (one, other) =>
        one.commit(0, Put("a", 1))
        one.commit(1, Put("a", 10))
        other.commit(1, Put("a", count))
        other.commit(2, Put("c", 1))
        // The store comes back.
        assert(one.counts(3) == Map("a" -> count, "c" -> 1L))
      }
    }
  }

  test("a version in memory is the base of those that others made of it") {
    two { (one, other) =>
      one.commit(0, Put("a", 1))
      one.commit(1, Put("a", 10))
      other.commit(2, Put("c", 1))
      one.delete("1.delta")
      assert(one.counts(3) == Map("a" -> 10L, "c" -> 1L))
    }
  }
}
