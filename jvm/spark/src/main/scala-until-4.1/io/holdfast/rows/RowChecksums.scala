package io.holdfast.rows

import org.apache.spark.sql.execution.streaming.state.StateStoreConf

/** The checksums of rows, which Spark before 4.2 has not: nothing asks for them. Any thread may call. */
private[holdfast] object RowChecksums {

  def areEnabled(conf: StateStoreConf): Boolean = false

  /** Every which row read is verified; 0 for none. */
  def verifyEvery(conf: StateStoreConf): Long = 0L

  def failed(store: String, expected: Int, computed: Int): Throwable =
    new IllegalStateException(
      s"A row of $store has checksum $computed instead of $expected, and this Spark has no checksums")

  def failedInFile(store: String, expected: Int, computed: Int, cause: Throwable): Throwable =
    failed(store, expected, computed).initCause(cause)
}
