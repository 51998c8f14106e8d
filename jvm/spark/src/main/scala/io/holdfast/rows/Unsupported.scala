package io.holdfast.rows

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreErrors}

private[holdfast] object Unsupported {
  val ProviderName = "HoldfastStateStoreProvider"

  def checkColumnFamily(name: String): Unit =
    if ((name ne StateStore.DEFAULT_COL_FAMILY_NAME) && name != StateStore.DEFAULT_COL_FAMILY_NAME) {
      throw StateStoreErrors.multipleColumnFamiliesNotSupported(ProviderName)
    }

  def unsupported(operation: String): Throwable =
    StateStoreErrors.unsupportedOperationException(operation, ProviderName)
}
