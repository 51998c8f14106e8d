package io.holdfast.rows

import org.apache.spark.sql.execution.streaming.state.{
  StateStoreConf,
  StateStoreErrors,
  StateStoreRowChecksumVerificationFailed
}

/** The checksums that rows have if a query asks for them, which Spark has from 4.2 on. Any thread may
  * call.
  */
private[holdfast] object RowChecksums {

  def areEnabled(conf: StateStoreConf): Boolean = conf.rowChecksumEnabled

  /** Every which row read is verified; 0 for none. */
  def verifyEvery(conf: StateStoreConf): Long =
    if (conf.rowChecksumEnabled) conf.rowChecksumReadVerificationRatio else 0L

  /** A row in memory is not as it was put. */
  def failed(store: String, expected: Int, computed: Int): Throwable =
    StateStoreErrors.rowChecksumVerificationFailed(store, expected, computed)

  /** A row in a file is not as it was put. */
  def failedInFile(store: String, expected: Int, computed: Int, cause: Throwable): Throwable =
    new StateStoreRowChecksumVerificationFailed(store, expected, computed) {
      override def getCause: Throwable = cause
    }
}
