package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.SparkException
import org.apache.spark.sql.errors.QueryExecutionErrors

/** Spark's errors for a version that cannot be loaded, of class CANNOT_LOAD_STATE_STORE. */
private[holdfast] object LoadErrors {

  /** For what has no such class yet. */
  def uncategorized(cause: Throwable): Throwable = cause match {
    case known: SparkException
        if Option(known.getCondition).exists(_.startsWith("CANNOT_LOAD_STATE_STORE")) =>
      known
    case other => QueryExecutionErrors.cannotLoadStore(other)
  }
}
