package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.SparkEnv
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCoordinatorRef,
  StateStoreProviderId
}

/** What tasks tell Spark's coordinator of their stores. */
object ToldStores {

  /** Tells that a store is in this executor. */
  def tell(id: StateStoreProviderId): Unit = {
    val spark = SparkEnv.get
    val host = spark.blockManager.blockManagerId.host
    val _ = StateStoreCoordinatorRef
      .forExecutor(spark)
      .reportActiveInstance(id, host, spark.executorId, Seq.empty)
  }
}
