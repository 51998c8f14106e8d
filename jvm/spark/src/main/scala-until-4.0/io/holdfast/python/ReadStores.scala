package io.holdfast.python

import org.apache.spark.sql.execution.streaming.state.ReadStateStore

/** How a store for reading is given back: before Spark 4.1 by the call that ends any store. */
private[holdfast] object ReadStores {
  def end(store: ReadStateStore): Unit = store.abort()
}
