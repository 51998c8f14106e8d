package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCoordinatorRef,
  StateStoreProviderId
}

/** What Spark's coordinator knows of the stores of queries. */
object ActiveStores {

  /** What tells of a store that begins on this thread whether the run of the query that it is of goes on,
    * and has the store in this executor (`StateStore.verifyIfStoreInstanceActive`, Spark 3.5 to 4.3).
    *
    * Queries begin their stores in tasks, and of others the coordinator has never heard. A task that asks is
    * of a run that goes on, also if its store is not kept, as with `unloadOnCommit`. Any thread may ask; it
    * throws a SparkException if the driver does not answer.
    */
  def ofNewStore(id: StateStoreProviderId): () => Boolean =
    if (TaskContext.get() == null) () => true
    else () => TaskContext.get() != null || isActive(id)

  private def isActive(id: StateStoreProviderId): Boolean = {
    val spark = SparkEnv.get
    spark != null &&
    StateStoreCoordinatorRef.forExecutor(spark).verifyIfInstanceActive(id, spark.executorId)
  }
}
