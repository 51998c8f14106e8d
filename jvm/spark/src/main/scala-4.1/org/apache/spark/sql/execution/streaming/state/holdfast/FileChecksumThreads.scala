package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.state.StateStoreConf

/** How many threads a store has to read and write checksums beside its files. */
private[holdfast] object FileChecksumThreads {

  /** As many as Spark's own provider of 4.1 has: one for a file and one for its checksum, for the task
    * and for maintenance.
    */
  def of(conf: StateStoreConf): Int = 4
}
