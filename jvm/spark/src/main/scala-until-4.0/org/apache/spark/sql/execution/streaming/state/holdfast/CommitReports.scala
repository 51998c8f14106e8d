package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreId}

/** What Spark's coordinator is told of commits: nothing, before 4.1. Any thread may call. */
object CommitReports {

  def committed(
      version: Long,
      store: StateStoreId,
      conf: StateStoreConf,
      hadoopConf: Configuration): Unit = ()
}
