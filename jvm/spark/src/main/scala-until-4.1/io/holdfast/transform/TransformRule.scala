package io.holdfast.transform

import org.apache.spark.sql.execution.ColumnarRule

/** What becomes of nodes of `transformWithState`: nothing before Spark 4.2, whose nodes take the provider
  * of the session, whatever that is (`TransformWithStateExec`, Spark 4.0 and 4.1).
  */
private[holdfast] object TransformRule {
  def columnar: ColumnarRule = new ColumnarRule
}
