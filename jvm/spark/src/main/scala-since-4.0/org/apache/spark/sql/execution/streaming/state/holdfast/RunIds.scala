package org.apache.spark.sql.execution.streaming.state.holdfast

import java.util.UUID

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StreamExecution

/** The run of a query that a store is for. */
object RunIds {

  /** The run that Spark puts into the Hadoop configuration of a store from 4.0 on. */
  def of(hadoopConf: Configuration): UUID =
    UUID.fromString(hadoopConf.get(StreamExecution.RUN_ID_KEY))

  /** Whether that is the run for certain. */
  val areTold: Boolean = true
}
