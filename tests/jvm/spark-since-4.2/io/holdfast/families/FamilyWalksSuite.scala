package io.holdfast.families

import org.apache.spark.sql.execution.streaming.state.StateStore
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, TestRows, TestStore}

/** What walks over the rows of a column family show, and in which order. */
class FamilyWalksSuite extends AnyFunSuite {
  private val groups = 1 to 5

  private def value(number: Long) = TestRows.value(number, "x" * 40).copy()

  /** Opens the version behind one that a change has made. */
  private def changed(change: StateStore => Unit)(look: (TestStore, StateStore) => Unit): Unit =
    TestStore.use(Provider().withFamilies) { test =>
      val before = open(test, 0)
      change(before)
      before.commit()
      val store = open(test, 1)
      look(test, store)
      store.abort()
    }

  private def open(test: TestStore, version: Long): StateStore = {
    val store = test.write(version)
    FamilyKind.all.foreach(_.create(store))
    store
  }

  test("a walk over a family with prefixes shows the rows of a prefix one after the other") {
    val kinds = FamilyKind.all.filter(kind => kind.hasPrefixes && !kind.isInOrder)
    changed { store =>
      for (time <- 1L to 6L; group <- groups; kind <- kinds)
        store.put(FamilyRows.key(group, time), value(time), kind.name)
    } { (test, store) =>
      for (reader <- Seq(store, test.read(1)); kind <- kinds) {
        val shown = reader.iterator(kind.name).map(_.key.getString(0)).toList
        val runs = shown.indices.count(i => i == 0 || shown(i - 1) != shown(i))
        assert(shown.size == 6 * groups.size)
        assert(runs == groups.size, kind.name)
      }
    }
  }
}
