package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.StateStoreInstanceMetric

import io.holdfast.metrics.StoreReport

/** The metrics of single stores, which Spark has from 4.1 on. */
private[holdfast] trait InstanceMetrics extends ProviderWork {
  override def supportedInstanceMetrics: Seq[StateStoreInstanceMetric] = StoreReport.instance
}
