package org.apache.spark.holdfast

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkContext, TaskContext, TaskContextImpl}

/** A task that no executor runs, with local properties of the thread that started it. */
final class FakeTask(properties: (String, String)*) {
  private val context: TaskContextImpl = TaskContext.empty()
  properties.foreach { case (name, value) =>
    (context: TaskContext).getLocalProperties.setProperty(name, value)
  }

  /** Does something in this thread as part of the task, which goes on afterwards. */
  def apply[A](body: => A): A = {
    val before = TaskContext.get()
    TaskContext.setTaskContext(context)
    try body
    finally if (before == null) TaskContext.unset() else TaskContext.setTaskContext(before)
  }

  /** Ends the task. */
  def end(): Unit = apply(context.markTaskCompleted(None))
}

object FakeTask {

  /** The names of the local properties that tasks started by this thread would have. */
  def propertiesNow(context: SparkContext): Set[String] =
    context.getLocalProperties.stringPropertyNames.asScala.toSet
}
