package org.apache.spark.sql.execution.streaming.state.holdfast

import java.util.UUID

import scala.util.Try

import org.apache.hadoop.conf.Configuration

import org.apache.spark.{SparkContext, TaskContext}

/** The run of a query that a store is for. */
object RunIds {

  /** Spark 3.5 does not tell it to stores, but makes it the job group of the run's batches
    * (`StreamExecution.runStream`), whose tasks make the stores. Elsewhere it is a run of its own, which
    * has no hints.
    */
  def of(hadoopConf: Configuration): UUID =
    Option(TaskContext.get())
      .flatMap(task => Option(task.getLocalProperty(SparkContext.SPARK_JOB_GROUP_ID)))
      .flatMap(group => Try(UUID.fromString(group)).toOption)
      .getOrElse(UUID.randomUUID())

  /** Whether that is the run for certain: a `foreachBatch` may set a job group of its own, which Spark
    * leaves in force for the batches after it.
    */
  val areTold: Boolean = false
}
