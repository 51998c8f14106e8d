package io.holdfast.rows

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreErrors}

/** Spark's errors for what a store cannot do. */
private[holdfast] object Unsupported {
  private val ProviderName = "HoldfastStateStoreProvider"

  /** Refuses what is not asked of the default column family, in stores that have no other. */
  def checkColumnFamily(name: String): Unit =
    if ((name ne StateStore.DEFAULT_COL_FAMILY_NAME) && name != StateStore.DEFAULT_COL_FAMILY_NAME) {
      throw columnFamilies
    }

  def unsupported(operation: String): Throwable =
    StateStoreErrors.unsupportedOperationException(operation, ProviderName)

  def columnFamilies: Throwable =
    StateStoreErrors.multipleColumnFamiliesNotSupported(ProviderName)

  def removalOfColumnFamilies: Throwable =
    StateStoreErrors.removingColumnFamiliesNotSupported(ProviderName)

  /** A prefix has another number of columns than the store was made for. */
  def prefixOf(columns: Int): Throwable =
    StateStoreErrors.incorrectNumOrderingColsForPrefixScan(columns.toString)

  /** Rows cannot be ordered by a column that is always null. */
  def orderByNulls(column: String, ordinal: Int): Throwable =
    StateStoreErrors.nullTypeOrderingColsNotSupported(column, ordinal.toString)

  /** Rows cannot be ordered by a column whose values differ in size. */
  def orderByVariableSize(column: String, ordinal: Int): Throwable =
    StateStoreErrors.variableSizeOrderingColsNotSupported(column, ordinal.toString)
}
