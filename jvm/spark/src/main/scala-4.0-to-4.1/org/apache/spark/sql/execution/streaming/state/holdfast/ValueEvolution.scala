package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStoreConf
import org.apache.spark.sql.types.StructType

/** Only `transformWithState` changes the schema of its values, which Holdfast has from Spark 4.2 on. */
final class ValueEvolution(from: StructType, to: StructType) {
  def apply(value: UnsafeRow): UnsafeRow = throw new UnsupportedOperationException(
    s"Holdfast makes no values $to out of $from on this Spark; expected 4.2 or newer, found $value")
}

object ValueEvolution {
  def isAllowed(conf: StateStoreConf): Boolean = false
}
