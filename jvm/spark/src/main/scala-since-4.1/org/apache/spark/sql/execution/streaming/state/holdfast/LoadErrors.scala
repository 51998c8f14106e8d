package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.state.StateStoreErrors

/** Spark's errors for a version that cannot be loaded, of class CANNOT_LOAD_STATE_STORE. */
private[holdfast] object LoadErrors {

  /** For what has no such class yet. */
  def uncategorized(cause: Throwable): Throwable = StateStoreErrors.cannotLoadStore(cause)
}
