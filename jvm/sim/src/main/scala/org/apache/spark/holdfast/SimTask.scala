package org.apache.spark.holdfast

import org.apache.spark.{TaskContext, TaskContextImpl}

/** A task that no executor of Spark's runs. For one thread. */
final class SimTask(properties: Map[String, String]) {
  private[this] val context: TaskContextImpl = TaskContext.empty()
  properties.foreach { case (name, value) => context.getLocalProperties.setProperty(name, value) }

  /** Does a part of the task. */
  def apply[A](body: => A): A = SimTask.as(context)(body)

  /** Ends it, whatever became of it. */
  def end(): Unit = apply(context.markTaskCompleted(None))
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
