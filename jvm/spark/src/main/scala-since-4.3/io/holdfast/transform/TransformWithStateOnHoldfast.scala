package io.holdfast.transform

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TimeMode}

/** Spark's node of `transformWithState` in Scala, with its state in Holdfast; its parameters are those
  * of Spark 4.3.
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
    realTime: Boolean,
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
      realTime,
      initial,
      initialGrouping,
      initialData,
      ofInitial,
      initialRows)
    with OnHoldfast {

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan): TransformWithStateExec =
    TransformWithStateOnHoldfast.copyOf(super.withNewChildrenInternal(newLeft, newRight))
}

private[transform] object TransformWithStateOnHoldfast {

  /** @throws java.lang.UnsupportedOperationException
    *   in real-time mode, if Spark's list of operators is asked: it has Spark's node by its class
    *   (`RealTimeModeAllowlist`, Spark 4.3)
    */
  def of(node: TransformWithStateExec): TransformWithStateOnHoldfast = {
    if (node.isRealTimeMode && node.conf.getConf(
        SQLConf.STREAMING_REAL_TIME_MODE_ALLOWLIST_CHECK)) {
      throw new UnsupportedOperationException(NotListed)
    }
    copyOf(node)
  }

  private val NotListed =
    "transformWithState on Holdfast is not in the list of operators that Spark allows in real-time " +
      "mode, which has Spark's own class alone. Set " +
      s"${SQLConf.STREAMING_REAL_TIME_MODE_ALLOWLIST_CHECK.key} to false before the query starts: " +
      "Spark then warns of operators that it does not list, and runs them"

  private def copyOf(node: TransformWithStateExec): TransformWithStateOnHoldfast =
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
      node.isRealTimeMode,
      node.hasInitialState,
      node.initialStateGroupingAttrs,
      node.initialStateDataAttrs,
      node.initialStateDeserializer,
      node.initialState)
}
