package io.holdfast.provider

import org.apache.spark.sql.execution.streaming.state.StateStore
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Put, TestStore}

/** The metrics that each store has for itself, which Spark has since 4.1. */
class InstanceMetricsSuite extends AnyFunSuite {

  private def last(store: StateStore): Seq[Long] = store.metrics.instanceMetrics.values.toSeq

  test("a store reports exactly those that its provider announces") {
    TestStore.use() { store =>
      val open = store.write(0)
      assert(
        open.metrics.instanceMetrics.keys.map(_.metricPrefix).toSet ==
          store.provider.supportedInstanceMetrics.map(_.metricPrefix).toSet)
      open.abort()
    }
  }

  test("the newest snapshot is named") {
    TestStore.use() { store =>
      val plain = store.write(0)
      Put("a", 1).applyTo(plain)
      plain.commit()
      assert(last(plain) == Seq(-1))

      val forced = store.write(1, forceSnapshot = true)
      forced.commit()
      store.awaitSnapshots()
      assert(last(forced) == Seq(2))
    }
  }
}
