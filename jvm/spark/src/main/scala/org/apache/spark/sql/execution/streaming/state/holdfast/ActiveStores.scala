package org.apache.spark.sql.execution.streaming.state.holdfast

import scala.util.control.NonFatal

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
    * Queries begin their stores in tasks of executors, and of others the coordinator has never heard.
    */
  def ofNewStore(id: StateStoreProviderId): StoreActivity =
    if (TaskContext.get() == null || SparkEnv.get == null) StoreActivity.OfNoQuery
    else new OfQuery(id)

  final private class OfQuery(id: StateStoreProviderId) extends StoreActivity {

    // A run of which the coordinator has never heard may be another than the store's, and says nothing.
    @volatile private[this] var isKnown = RunIds.areTold
    if (!isKnown) askAfterTask()

    override def isKept: Boolean = SparkEnv.get != null && (isActive || !isKnown)

    override def isActive: Boolean = {
      val spark = SparkEnv.get
      spark != null && {
        val found =
          StateStoreCoordinatorRef.forExecutor(spark).verifyIfInstanceActive(id, spark.executorId)
        if (found) isKnown = true
        found
      }
    }

    // By then Spark has told the coordinator of the store that it begins (`StateStore.getStateStoreProvider`).
    private[this] def askAfterTask(): Unit = {
      val _ = TaskContext.get().addTaskCompletionListener[Unit] { _ =>
        try { val _ = isKept }
        catch { case NonFatal(_) => }
      }
    }

    override def goesOn: Boolean = TaskContext.get() != null || isKept
  }
}
