package org.apache.spark.holdfast

import java.util.Properties

import scala.jdk.CollectionConverters._

import org.apache.spark.executor.TaskMetrics
import org.apache.spark.{SparkContext, TaskContext, TaskContextImpl}

/** A task that no executor runs, with local properties of the thread that started it. */
final class FakeTask private (context: TaskContextImpl, properties: Seq[(String, String)]) {

  def this(properties: (String, String)*) = this(TaskContext.empty(), properties)

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

  /** A task that is tried once more. */
  def again(): FakeTask = new FakeTask(
    new TaskContextImpl(
      stageId = 0,
      stageAttemptNumber = 0,
      partitionId = 0,
      taskAttemptId = 1L,
      attemptNumber = 1,
      numPartitions = 1,
      taskMemoryManager = null,
      localProperties = new Properties,
      metricsSystem = null,
      TaskMetrics.empty,
      1,
      Map.empty),
    Nil)

  /** The names of the local properties that tasks started by this thread would have. */
  def propertiesNow(context: SparkContext): Set[String] =
    context.getLocalProperties.stringPropertyNames.asScala.toSet
}
