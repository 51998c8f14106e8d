package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCoordinatorRef,
  StateStoreProviderId
}

import io.holdfast.surroundings.StoreActivity

/** What Spark's coordinator knows of the stores of queries. */
object ActiveStores {

  /** What tells of a store that begins on this thread whether the run of the query that it is of goes on,
    * and has the store in this executor (`StateStore.verifyIfStoreInstanceActive`, Spark 3.5 to 4.3).
    *
    * Queries begin their stores in tasks, and of others the coordinator has never heard.
    */
  def ofNewStore(id: StateStoreProviderId): StoreActivity =
    if (TaskContext.get() == null) StoreActivity.OfNoQuery else new OfQuery(id)

  final private class OfQuery(id: StateStoreProviderId) extends StoreActivity {

    override def isKept: Boolean = {
      val spark = SparkEnv.get
      spark != null &&
      StateStoreCoordinatorRef.forExecutor(spark).verifyIfInstanceActive(id, spark.executorId)
    }

    override def goesOn: Boolean = TaskContext.get() != null || isKept
  }
}
