package io.holdfast.transform

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.{
  TransformWithStateExec,
  TransformWithStateExecBase
}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/** Puts nodes that take Holdfast in the place of Spark's nodes of `transformWithState`. On the thread of
  * the query, for each batch, when all is in the nodes that the batch needs.
  */
final private class TransformRule extends ColumnarRule {

  override def preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {

    // Upwards: downwards Spark compares a node with the one that comes in its place.
    override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
      case node: TransformWithStateExec
          if node.isStreaming && isOnHoldfast(node) &&
            node.getClass == classOf[TransformWithStateExec] =>
        TransformWithStateOnHoldfast.of(node)
      case node: TransformWithStateInPySparkExec
          if node.isStreaming && isOnHoldfast(node) &&
            node.getClass == classOf[TransformWithStateInPySparkExec] =>
        TransformInPythonOnHoldfast.of(node)
    }
  }

  private def isOnHoldfast(node: TransformWithStateExecBase): Boolean =
    OnHoldfast.isProviderOf(node.conf)
}

private[holdfast] object TransformRule {

  def columnar: ColumnarRule = new TransformRule
}
