package org.apache.spark.holdfast

import java.util.Properties

import org.apache.spark.executor.TaskMetrics
import org.apache.spark.util.TaskCompletionListenerException
import org.apache.spark.{TaskContext, TaskContextImpl}

/** A task that no executor of Spark's runs. For one thread.
  *
  * @param attemptNumber
  *   how many attempts at it there were before
  */
final class SimTask(properties: Map[String, String], attemptNumber: Int) {
  private[this] val context = new TaskContextImpl(
    stageId = 0,
    stageAttemptNumber = 0,
    partitionId = 0,
    taskAttemptId = 0L,
    attemptNumber = attemptNumber,
    numPartitions = 1,
    taskMemoryManager = null,
    localProperties = new Properties,
    metricsSystem = null,
    TaskMetrics.empty,
    1,
    Map.empty)
  properties.foreach { case (name, value) => context.getLocalProperties.setProperty(name, value) }

  /** Does a part of the task. */
  def apply[A](body: => A): A = SimTask.as(context)(body)

  /** Ends it, whatever became of it.
    *
    * @throws java.lang.Throwable
    *   what one of those has thrown who wait for its end
    */
  def end(): Unit =
    try apply(context.markTaskCompleted(None))
    catch {
      case e: TaskCompletionListenerException => throw e.getSuppressed.headOption.getOrElse(e)
    }
}

object SimTask {

  /** Does what belongs to no task, whatever task stands still meanwhile. */
  def none[A](body: => A): A = as(null)(body)

  private def as[A](context: TaskContext)(body: => A): A = {
    val before = TaskContext.get()
    set(context)
    try body
    finally set(before)
  }

  private def set(context: TaskContext): Unit =
    if (context == null) TaskContext.unset() else TaskContext.setTaskContext(context)
}
