package io.holdfast.transform

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TimeMode}

/** Spark's node of `transformWithState` in Scala, with its state in Holdfast; its parameters are those
  * of Spark 4.2.
  */
final private[transform] class TransformWithStateOnHoldfast(
    ofKey: Expression,
    ofValue: Expression,
    grouping: Seq[Attribute],
    data: Seq[Attribute],
    processor: StatefulProcessor[Any, Any, Any],
    times: TimeMode,
    mode: OutputMode,
    encoder: ExpressionEncoder[Any],
    made: Attribute,
    info: Option[StatefulOperatorStateInfo],
    batchTime: Option[Long],
    batchTimeBefore: Option[Long],
    late: Option[Long],
    eviction: Option[Long],
    rows: SparkPlan,
    streaming: Boolean,
    initial: Boolean,
    initialGrouping: Seq[Attribute],
    initialData: Seq[Attribute],
    ofInitial: Expression,
    initialRows: SparkPlan)
    extends TransformWithStateExec(
      ofKey,
      ofValue,
      grouping,
      data,
      processor,
      times,
      mode,
      encoder,
      made,
      info,
      batchTime,
      batchTimeBefore,
      late,
      eviction,
      rows,
      streaming,
      initial,
      initialGrouping,
      initialData,
      ofInitial,
      initialRows)
    with OnHoldfast {

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan): TransformWithStateExec =
    TransformWithStateOnHoldfast.of(super.withNewChildrenInternal(newLeft, newRight))
}

private[transform] object TransformWithStateOnHoldfast {
  def of(node: TransformWithStateExec): TransformWithStateOnHoldfast =
    new TransformWithStateOnHoldfast(
      node.keyDeserializer,
      node.valueDeserializer,
      node.groupingAttributes,
      node.dataAttributes,
      node.statefulProcessor,
      node.timeMode,
      node.outputMode,
      node.keyEncoder,
      node.outputObjAttr,
      node.stateInfo,
      node.batchTimestampMs,
      node.prevBatchTimestampMs,
      node.eventTimeWatermarkForLateEvents,
      node.eventTimeWatermarkForEviction,
      node.child,
      node.isStreaming,
      node.hasInitialState,
      node.initialStateGroupingAttrs,
      node.initialStateDataAttrs,
      node.initialStateDeserializer,
      node.initialState)
}
