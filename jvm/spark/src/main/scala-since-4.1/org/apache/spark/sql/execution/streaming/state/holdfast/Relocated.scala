package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.checkpointing
import org.apache.spark.sql.execution.streaming.operators.stateful
import org.apache.spark.sql.execution.streaming.operators.stateful.flatmapgroupswithstate
import org.apache.spark.sql.execution.streaming.operators.stateful.join
import org.apache.spark.sql.execution.streaming.runtime

/** What Spark 4.1 moved into packages of its own, by one name on all lines. */
object Relocated extends PythonNodes {
  type CheckpointFileManager = checkpointing.CheckpointFileManager
  val CheckpointFileManager: checkpointing.CheckpointFileManager.type =
    checkpointing.CheckpointFileManager
  type CancellableFSDataOutputStream =
    checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
  type OffsetSeqLog = checkpointing.OffsetSeqLog

  val StreamExecution: runtime.StreamExecution.type = runtime.StreamExecution
  val GroupStateImpl: flatmapgroupswithstate.GroupStateImpl.type =
    flatmapgroupswithstate.GroupStateImpl

  type StateStoreWriter = stateful.StateStoreWriter
  type StatefulOperatorStateInfo = stateful.StatefulOperatorStateInfo
  type StateStoreSaveExec = stateful.StateStoreSaveExec
  type StreamingDeduplicateExec = stateful.StreamingDeduplicateExec
  type StreamingDeduplicateWithinWatermarkExec = stateful.StreamingDeduplicateWithinWatermarkExec
  type SessionWindowStateStoreSaveExec = stateful.SessionWindowStateStoreSaveExec
  type FlatMapGroupsWithStateExec = flatmapgroupswithstate.FlatMapGroupsWithStateExec
  type FlatMapGroupsWithStateExecBase = flatmapgroupswithstate.FlatMapGroupsWithStateExecBase
  type StreamingSymmetricHashJoinExec = join.StreamingSymmetricHashJoinExec
  val StreamingSymmetricHashJoinHelper: join.StreamingSymmetricHashJoinHelper.type =
    join.StreamingSymmetricHashJoinHelper
}
