package io.holdfast.provider

import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStoreIterator,
  UnsafeRowPair
}
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.memory.StoreMemory
import io.holdfast.testkit.{Provider, Put, StoreCalls, TestStore}

/** Walks over stores, which Spark closes since 4.0. */
class CountedWalksSuite extends AnyFunSuite {

  test("a walk over all rows counts until it is at its end, closed, or its store is released") {
    TestStore.use(Provider().inMemory(2)) { store =>
      store.commit(0, (0 until 80000).map(n => Put(s"a $n", n.toLong, "n" * 100)): _*)
      val before = StoreMemory.heldInThisJvm
      def walking(end: (ReadStateStore, StateStoreIterator[UnsafeRowPair]) => Unit): Assertion = {
        val reader = store.provider.getReadStore(1)
        val rows = reader.iterator()
        rows.next()
        // A bit for every eight bytes of rows of more than 100.
        assert(StoreMemory.heldInThisJvm - before >= 80000L * 100 / 64)
        end(reader, rows)
        assert(StoreMemory.heldInThisJvm === before)
      }
      walking((_, rows) => rows.foreach(_ => ()))
      walking((_, rows) => rows.close())
      walking((reader, _) => StoreCalls.end(reader))
    }
  }
}
