package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter

/** The names of the stores that an operator has in each partition. */
object StoreNames {
  def of(operator: StateStoreWriter): Seq[String] = operator.stateStoreNames
}
