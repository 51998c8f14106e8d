package io.holdfast.transform

import org.apache.spark.sql.execution.ColumnarRule

/** What becomes of nodes of `transformWithState`: nothing before Spark 4.2. */
private[holdfast] object TransformRule {

  /** Whether Holdfast keeps the state of `transformWithState` on this line. */
  val IsThere = false

  def columnar: ColumnarRule = new ColumnarRule
}
