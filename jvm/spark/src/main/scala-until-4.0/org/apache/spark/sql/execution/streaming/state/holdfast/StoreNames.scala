package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.{StateStoreWriter, StreamingSymmetricHashJoinExec}
import org.apache.spark.sql.execution.streaming.StreamingSymmetricHashJoinHelper.{
  LeftSide,
  RightSide
}
import org.apache.spark.sql.execution.streaming.state.{StateStoreId, SymmetricHashJoinStateManager}

/** The names of the stores that an operator has in each partition, which operators do not tell before
  * Spark 4.1.
  */
object StoreNames {
  def of(operator: StateStoreWriter): Seq[String] = operator match {
    case _: StreamingSymmetricHashJoinExec =>
      SymmetricHashJoinStateManager.allStateStoreNames(LeftSide, RightSide)
    case _ => Seq(StateStoreId.DEFAULT_STORE_NAME)
  }
}
