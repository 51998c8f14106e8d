package io.holdfast.provider

import org.apache.logging.log4j.Level
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.store.{HoldfastStateStore, StoreVersions}
import io.holdfast.testkit.{LoggedWarnings, Provider, Put, Remove, TestStore}
import io.holdfast.versions.VersionLoader

/** What an operator finds in the log of an executor. */
class LogLinesSuite extends AnyFunSuite {

  private val settings = Provider().minDeltas(1000)

  test("a commit is a line with its numbers") {
    TestStore.use(settings) { store =>
      store.commit(0, Put("a", 1), Put("b", 2))
      val said = LoggedWarnings.of(classOf[HoldfastStateStore], Level.INFO) {
        store.commit(1, Remove("a"), Put("c", 3), Put("d", 4))
      }
      assert(said.size == 1)
      val bytes = store.bytes("2.delta").length
      assert(said.head.startsWith("Committed version 2 of "))
      assert(
        s"changes=3 bytes=$bytes ms=\\d+ rows=3 memory=\\d+".r.findFirstIn(said.head).isDefined)
    }
  }

  test("a load says before it begins which files it reads, and afterwards how long it took") {
    TestStore.use(settings) { store =>
      store.commit(0, Put("a", 1))
      store.commitWithSnapshot(1, Put("b", 2))
      store.commit(2, Put("c", 3))
      store.commit(3, Put("d", 4))
      store.reopen()
      val before = LoggedWarnings.of(classOf[VersionLoader], Level.INFO) {
        val after = LoggedWarnings.of(classOf[StoreVersions], Level.INFO)(store.read(4))
        assert(after.size == 1)
        assert("ms=\\d+ rows=4 snapshot=2 deltas=2".r.findFirstIn(after.head).isDefined)
      }
      assert(before.head.startsWith("Version 4 of "))
      assert(before.head.contains("snapshot=2"))
      assert(before.head.contains("deltas=2"))
      assert(before.tail.forall(_.startsWith("Read ")))
    }
  }
}
