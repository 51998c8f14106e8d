package io.holdfast.families

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.Background

/** A store that one thread opens and another one changes, as the state server of a task in Python does. */
class HandedOverStoreSuite extends AnyFunSuite with FamilyCommits {
  import FamilyKind.Lists

  private val keys = (0L until 50L).map(n => FamilyRows.key(1, n).copy())
  private val appended = 40000

  // The first batch defines families: that of the store, and those of timers, before there is a server.
  test("values that are added in the first batch need no memory for what they replace") {
    use() { test =>
      val store = test.write(0)
      FamilyKind.all.filterNot(_ == Lists).foreach(_.create(store))
      val serving = new Background({
        Lists.create(store)
        (0 until appended).foreach { n =>
          store.merge(keys(n % keys.size), value(n.toLong), Lists.name)
        }
      })
      serving.result()
      assert(store.metrics.memoryUsedBytes < (16L << 20))
      store.commit()
      val rows = Lists.rows(test.read(1))
      assert(rows.size === appended)
    }
  }
}
