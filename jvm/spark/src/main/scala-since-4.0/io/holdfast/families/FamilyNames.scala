package io.holdfast.families

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreErrors}

/** What Spark says of names of column families, in its own errors and in the order of its RocksDB
  * provider (`RocksDBStateStoreProvider`, Spark 4.2). Any thread may call.
  */
private[holdfast] object FamilyNames {

  /** Refuses an operation on a family that is not there. */
  def missing(operation: String, name: String): Throwable =
    if (isMalformed(name)) StateStoreErrors.cannotUseColumnFamilyWithInvalidName(operation, name)
    else StateStoreErrors.unsupportedOperationOnMissingColumnFamily(operation, name)

  /** Refuses a name that no family is made or removed by. */
  def check(operation: String, name: String, isInternal: Boolean): Unit = {
    if (isMalformed(name) || (name == StateStore.DEFAULT_COL_FAMILY_NAME && !isInternal)) {
      throw StateStoreErrors.cannotUseColumnFamilyWithInvalidName(operation, name)
    }
    if (!isInternal && name.charAt(0) == ReservedForInternal) {
      throw StateStoreErrors.cannotCreateColumnFamilyWithReservedChars(name)
    }
  }

  private def isMalformed(name: String): Boolean = name.isEmpty || name.trim != name

  private val ReservedForInternal = '$'
}
