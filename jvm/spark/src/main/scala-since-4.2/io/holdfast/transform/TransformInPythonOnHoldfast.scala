package io.holdfast.transform

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.TransformWithStateInPySpark
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.python.streaming.holdfast.TransformInBulk
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.StructType

/** Spark's node of `transformWithState` and `transformWithStateInPandas` in Python, with its state in
  * Holdfast; its parameters are those of Spark 4.2 and 4.3.
  */
final private[transform] class TransformInPythonOnHoldfast(
    function: Expression,
    grouping: Seq[Attribute],
    made: Seq[Attribute],
    mode: OutputMode,
    times: TimeMode,
    info: Option[StatefulOperatorStateInfo],
    batchTime: Option[Long],
    batchTimeBefore: Option[Long],
    late: Option[Long],
    eviction: Option[Long],
    dataType: TransformWithStateInPySpark.UserFacingDataType.Value,
    rows: SparkPlan,
    streaming: Boolean,
    initial: Boolean,
    initialRows: SparkPlan,
    initialGrouping: Seq[Attribute],
    initialSchema: StructType)
    extends TransformWithStateInPySparkExec(
      function,
      grouping,
      made,
      mode,
      times,
      info,
      batchTime,
      batchTimeBefore,
      late,
      eviction,
      dataType,
      rows,
      streaming,
      initial,
      initialRows,
      initialGrouping,
      initialSchema)
    with OnHoldfast
    with TransformInBulk {

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan): TransformWithStateInPySparkExec =
    TransformInPythonOnHoldfast.of(super.withNewChildrenInternal(newLeft, newRight))
}

private[transform] object TransformInPythonOnHoldfast {
  def of(node: TransformWithStateInPySparkExec): TransformInPythonOnHoldfast =
    new TransformInPythonOnHoldfast(
      node.functionExpr,
      node.groupingAttributes,
      node.output,
      node.outputMode,
      node.timeMode,
      node.stateInfo,
      node.batchTimestampMs,
      node.prevBatchTimestampMs,
      node.eventTimeWatermarkForLateEvents,
      node.eventTimeWatermarkForEviction,
      node.userFacingDataType,
      node.child,
      node.isStreaming,
      node.hasInitialState,
      node.initialState,
      node.initialStateGroupingAttrs,
      node.initialStateSchema)
}
