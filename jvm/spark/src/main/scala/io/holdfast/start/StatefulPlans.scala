package io.holdfast.start

import org.apache.spark.sql.catalyst.plans.logical.{
  Aggregate,
  Deduplicate,
  DeduplicateWithinWatermark,
  Distinct,
  FlatMapGroupsInPandasWithState,
  FlatMapGroupsWithState,
  GlobalLimit,
  Join,
  LogicalPlan
}

/** What the logical plan of a streaming query says of its state. */
private[holdfast] object StatefulPlans {

  /** Whether a query keeps state at all (`UnsupportedOperationChecker`, Spark 4.2, names the same
    * operators).
    */
  def keepState(plan: LogicalPlan): Boolean = plan.exists { node =>
    node.isStreaming && (node match {
      case _: Aggregate | _: Distinct | _: Deduplicate | _: DeduplicateWithinWatermark |
          _: FlatMapGroupsWithState | _: FlatMapGroupsInPandasWithState | _: GlobalLimit =>
        true
      case join: Join => join.left.isStreaming && join.right.isStreaming
      case other => isTransformWithState(other)
    })
  }

  private def isTransformWithState(node: LogicalPlan): Boolean =
    node.nodeName.startsWith("TransformWithState")
}
