package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{CustomMetrics, Put, TestStore}

/** The metric of snapshots that Spark's coordinator asks for, which Spark has since 4.2. */
class ForcedSnapshotMetricSuite extends AnyFunSuite {

  test("a forced snapshot is counted") {
    TestStore.use() { store =>
      val plain = store.write(0)
      Put("a", 1).applyTo(plain)
      plain.commit()
      assert(CustomMetrics(plain, "forceSnapshotCount") == 0)

      val forced = store.write(1, forceSnapshot = true)
      forced.commit()
      store.awaitSnapshots()
      assert(CustomMetrics(forced, "forceSnapshotCount") == 1)
    }
  }
}
