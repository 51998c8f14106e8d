package io.holdfast.testkit

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreMetrics}

/** Custom metrics of stores by name, as in a query's progress. */
object CustomMetrics {

  def of(metrics: StateStoreMetrics): Map[String, Long] =
    metrics.customMetrics.map { case (metric, value) => metric.name -> value }

  def apply(store: StateStore, name: String): Long = of(store.metrics)(name)
}
