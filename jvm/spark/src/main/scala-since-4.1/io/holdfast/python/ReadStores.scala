package io.holdfast.python

import org.apache.spark.sql.execution.streaming.state.ReadStateStore

/** How a store for reading is given back: from Spark 4.1 on by a call of its own. */
private[holdfast] object ReadStores {
  def end(store: ReadStateStore): Unit = store.release()
}
