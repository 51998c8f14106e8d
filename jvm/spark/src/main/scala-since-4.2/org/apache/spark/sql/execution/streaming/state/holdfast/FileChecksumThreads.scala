package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.state.StateStoreConf

/** How many threads a store has to read and write checksums beside its files. */
private[holdfast] object FileChecksumThreads {
  def of(conf: StateStoreConf): Int = conf.fileChecksumThreadPoolSize
}
