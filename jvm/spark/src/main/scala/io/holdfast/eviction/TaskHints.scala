package io.holdfast.eviction

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StreamExecution
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId

/** What the thread that started a batch has left for the tasks of a store. Any thread may call. */
final private[holdfast] class TaskHints(store: StateStoreProviderId) {
  private[this] val property =
    EvictionHint.property(store.queryRunId, store.storeId.operatorId, store.storeId.storeName)

  /** The hint for a version, if the current task is one of a batch that starts from it. For the thread
    * of the task.
    */
  def of(version: Long): Option[EvictionHint] = {
    val task = TaskContext.get()
    val text = if (task == null) null else task.getLocalProperty(property)
    if (text == null) None else EvictionHint.of(text, version)
  }
}

private[holdfast] object TaskHints {

  /** Whether the current task is one of a batch whose plan nobody has read for hints, because the
    * session has not the extension.
    */
  def areMissing: Boolean = Option(TaskContext.get()).exists { task =>
    task.getLocalProperty(StreamExecution.QUERY_ID_KEY) != null &&
    task.getLocalProperty(EvictionHint.PlansAreRead) == null
  }
}
