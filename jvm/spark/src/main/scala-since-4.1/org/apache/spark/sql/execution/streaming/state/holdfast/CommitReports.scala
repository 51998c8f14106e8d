package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreConf, StateStoreId}

/** What Spark's coordinator holds against the batch in order to find stores that have not committed,
  * from Spark 4.1 on. Any thread may call.
  */
object CommitReports {

  /** Tells the coordinator of a commit, if it wants to know. */
  def committed(
      version: Long,
      store: StateStoreId,
      conf: StateStoreConf,
      hadoopConf: Configuration): Unit =
    if (conf.commitValidationEnabled) {
      StateStore.reportCommitToCoordinator(version, store, hadoopConf)
    }
}
