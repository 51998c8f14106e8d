package org.apache.spark.sql.execution.python.streaming.holdfast

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.concurrent.TimeUnit

import org.apache.spark.JobArtifactSet
import org.apache.spark.api.python.{ChainedPythonFunctions, PythonEvalType}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Attribute, PythonUDF, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.logical.TransformWithStateInPySpark.UserFacingDataType
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.ArrowPythonRunner
import org.apache.spark.sql.execution.python.PandasGroupUtils.{executePython, resolveArgOffsets}
import org.apache.spark.sql.execution.python.streaming.{
  TransformWithStateInPySparkExec,
  TransformWithStateInPySparkPythonRunner
}
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor.StatefulProcessorHandleImpl
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.streaming.TimeMode
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.util.CompletionIterator

/** A node of `transformWithState` in Python whose tasks serve the states of many keys at once.
  *
  * It does what `TransformWithStateInPySparkExec` of Spark 4.2 and 4.3 does for a streaming query without
  * initial state, with a state server of its own, if the query's function brings the client for it. Rows go
  * to the worker in the order of their keys, as there; the worker finds where a key ends.
  */
trait TransformInBulk extends TransformWithStateInPySparkExec {

  override protected def doExecute(): RDD[InternalRow] =
    if (hasInitialState || !isStreaming || !bringsClient) super.doExecute()
    else {
      metrics // made here, for tasks
      validateStateStoreProvider(isStreaming)
      val task = taskInBulk
      child
        .execute()
        .mapPartitionsWithStateStore[InternalRow](
          getStateInfo,
          schemaForKeyRow,
          schemaForValueRow,
          NoPrefixKeyStateEncoderSpec(schemaForKeyRow),
          session.sessionState,
          Some(session.streams.stateStoreCoordinator),
          useColumnFamilies = true,
          useMultipleValuesPerKey = true)(results(task))
    }

  private def udf: PythonUDF = functionExpr.asInstanceOf[PythonUDF]

  // A function that is large is a broadcast variable, and what is in it is not known here. The server
  // answers Spark's client too.
  private def bringsClient: Boolean =
    !udf.func.broadcastVars.isEmpty ||
      new String(udf.func.command.toArray, ISO_8859_1).contains(TransformInBulk.Client)

  private def taskInBulk: TaskInBulk = {
    val (columns, offsets) = resolveArgOffsets(child.output, groupingAttributes)
    val keySchema =
      StructType(groupingAttributes.map(key => StructField(key.name, key.dataType, key.nullable)))
    val inFrames = userFacingDataType == UserFacingDataType.PANDAS
    TaskInBulk(
      Seq((ChainedPythonFunctions(Seq(udf.func)), udf.resultId.id)),
      if (inFrames) PythonEvalType.SQL_TRANSFORM_WITH_STATE_PANDAS_UDF
      else PythonEvalType.SQL_TRANSFORM_WITH_STATE_PYTHON_ROW_UDF,
      columns,
      offsets,
      keySchema,
      ExpressionEncoder(keySchema).resolveAndBind().asInstanceOf[ExpressionEncoder[Any]],
      conf.sessionLocalTimeZone,
      ArrowPythonRunner.getPythonRunnerConfMap(conf),
      JobArtifactSet.getCurrentJobArtifactState.map(_.uuid),
      batchTimestampMs,
      eventTimeWatermarkForEviction)
  }

  private def results(
      task: TaskInBulk)(store: StateStore, rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val started = System.nanoTime
    val (updateTime, commitTime) = (longMetric("allUpdatesTimeMs"), longMetric("commitTimeMs"))
    val written = longMetric("numOutputRows")
    val inTime = watermarkPredicateForDataForLateEvents match {
      case Some(late) if timeMode == TimeMode.EventTime() =>
        applyRemovingRowsOlderThanWatermark(rows, late)
      case _ => rows
    }
    val handle = new StatefulProcessorHandleImpl(
      store,
      getStateInfo.queryRunId,
      task.keyEncoder,
      timeMode,
      isStreaming,
      batchTimestampMs,
      prevBatchTimestampMs,
      metrics)
    val projected = inTime.map(UnsafeProjection.create(task.columns, child.output))
    val returned =
      executePython(Iterator.single((null, projected)), output, task.runner(handle, pythonMetrics))
    CompletionIterator[InternalRow, Iterator[InternalRow]](
      returned, {
        updateTime += TimeUnit.NANOSECONDS.toMillis(System.nanoTime - started)
        commitTime += timeTakenMs {
          handle.doTtlCleanup()
          val _ = store.commit()
        }
        setStoreMetrics(store)
        setOperatorMetrics()
      }).map { row =>
      written += 1
      row
    }
  }
}

private object TransformInBulk {

  /** The package of the client, which travels with the function as text and code. */
  val Client = "holdfast_spark.transform"
}

/** What the tasks of a node need to know of it. */
final private case class TaskInBulk(
    functions: Seq[(ChainedPythonFunctions, Long)],
    evalType: Int,
    columns: Seq[Attribute],
    offsets: Array[Int],
    keySchema: StructType,
    keyEncoder: ExpressionEncoder[Any],
    timeZone: String,
    runnerConf: Map[String, String],
    jobArtifactUUID: Option[String],
    batchTimestampMs: Option[Long],
    watermark: Option[Long]) {

  def runner(
      handle: StatefulProcessorHandleImpl,
      pythonMetrics: Map[String, SQLMetric]): TransformWithStateInPySparkPythonRunner =
    new TransformWithStateInPySparkPythonRunner(
      functions,
      evalType,
      Array(offsets),
      DataTypeUtils.fromAttributes(columns),
      handle,
      timeZone,
      runnerConf,
      pythonMetrics,
      jobArtifactUUID,
      keySchema,
      batchTimestampMs,
      watermark) {

      override protected def initStateServer(): Unit = {
        super.initStateServer()
        val mostRows = sqlConf.arrowTransformWithStateInPySparkMaxStateRecordsPerBatch
        val server =
          BulkStateServer(handle, task.keySchema, mostRows, task.batchTimestampMs, task.watermark)
        stateServerSocket = new ServingSocket(stateServerSocket, server.serve)
      }
    }

  private def task: TaskInBulk = this
}
