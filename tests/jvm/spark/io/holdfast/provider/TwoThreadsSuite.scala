package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Background, TestRows, TestStore}

/** A store that one thread reads and another changes, as the Python runner of
  * `FlatMapGroupsInPandasWithStateExec` does in Spark 3.5.
  */
class TwoThreadsSuite extends AnyFunSuite {
  private val rows = 20000

  test("a thread that gets sees whole rows while another puts, and the version has all of them") {
    TestStore.use() { store =>
      val first = store.write(0)
      (0 until rows).foreach(n => first.put(TestRows.key(s"k$n"), TestRows.value(1L, "x" * 40)))
      first.commit()

      val open = store.write(1)
      val reading = new Background((0 until rows).reverse.map { n =>
        open.get(TestRows.key(s"k$n")).getLong(0)
      })
      (0 until rows).foreach(n => open.put(TestRows.key(s"k$n"), TestRows.value(2L, "y" * 40)))
      assert(reading.result().toSet.subsetOf(Set(1L, 2L)))
      open.commit()

      val expected = (0 until rows).map(n => s"k$n" -> 2L).toMap
      assert(store.counts(2) === expected)
      store.reopen()
      assert(store.counts(2) === expected)
    }
  }

  test("a store that another thread aborts refuses the next change, and its version stays") {
    TestStore.use() { store =>
      val first = store.write(0)
      (0 until 100).foreach(n => first.put(TestRows.key(s"k$n"), TestRows.value(1L)))
      first.commit()

      val open = store.write(1)
      val aborting = new Background({
        // Not before the other thread is under way.
        while (open.get(TestRows.key("new 1000")) == null) Thread.onSpinWait()
        open.abort()
      })
      intercept[IllegalStateException] {
        Iterator.from(0).foreach(n => open.put(TestRows.key(s"new $n"), TestRows.value(n.toLong)))
      }
      aborting.result()

      val second = store.write(1)
      second.put(TestRows.key("k0"), TestRows.value(5L))
      second.commit()
      val expected = (1 until 100).map(n => s"k$n" -> 1L).toMap + ("k0" -> 5L)
      assert(store.counts(2) === expected)
      store.reopen()
      assert(store.counts(2) === expected)
    }
  }
}
