package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{CustomMetrics, Put, StoreCalls, TestRows, TestStore}

/** A store that a task first reads, and then writes (`getWriteStore`, Spark 4.1). */
class UpgradedStoreSuite extends AnyFunSuite {

  test("what a task asks of a store is counted from its store for reading on") {
    TestStore.use() { store =>
      store.commit(0, Put("a", 1), Put("b", 2))
      val read = store.read(1)
      read.get(TestRows.key("a"))
      val open = StoreCalls.upgrade(store.provider, read, 1)
      read.get(TestRows.key("none"))
      open.get(TestRows.key("b"))
      assert(CustomMetrics.of(open.metrics)("holdfastGetCount") === 3)
      open.commit()
      assert(CustomMetrics.of(open.metrics)("holdfastGetCount") === 3)
    }
  }
}
