package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming

/** What Spark 4.1 moved into packages of its own, by one name on all lines. */
object Relocated extends PythonNodes {
  type CheckpointFileManager = streaming.CheckpointFileManager
  val CheckpointFileManager: streaming.CheckpointFileManager.type = streaming.CheckpointFileManager
  type CancellableFSDataOutputStream =
    streaming.CheckpointFileManager.CancellableFSDataOutputStream
  type OffsetSeqLog = streaming.OffsetSeqLog

  val StreamExecution: streaming.StreamExecution.type = streaming.StreamExecution
  val GroupStateImpl: streaming.GroupStateImpl.type = streaming.GroupStateImpl

  type StateStoreWriter = streaming.StateStoreWriter
  type StatefulOperatorStateInfo = streaming.StatefulOperatorStateInfo
  type StateStoreSaveExec = streaming.StateStoreSaveExec
  type StreamingDeduplicateExec = streaming.StreamingDeduplicateExec
  type StreamingDeduplicateWithinWatermarkExec = streaming.StreamingDeduplicateWithinWatermarkExec
  type SessionWindowStateStoreSaveExec = streaming.SessionWindowStateStoreSaveExec
  type FlatMapGroupsWithStateExec = streaming.FlatMapGroupsWithStateExec
  type FlatMapGroupsWithStateExecBase = streaming.FlatMapGroupsWithStateExecBase
  type StreamingSymmetricHashJoinExec = streaming.StreamingSymmetricHashJoinExec
  val StreamingSymmetricHashJoinHelper: streaming.StreamingSymmetricHashJoinHelper.type =
    streaming.StreamingSymmetricHashJoinHelper
}
