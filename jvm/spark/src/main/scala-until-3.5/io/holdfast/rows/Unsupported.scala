package io.holdfast.rows

/** Errors for what a store cannot do, for which Spark 3.5 has no classes. */
private[holdfast] object Unsupported {

  def unsupported(operation: String): Throwable =
    new UnsupportedOperationException(s"HoldfastStateStoreProvider does not support $operation")

  /** A prefix has another number of columns than the store was made for. */
  def prefixOf(columns: Int): Throwable =
    new IllegalArgumentException(
      s"A prefix of $columns columns was given to a store that is made for another number of them")

  /** Rows cannot be ordered by a column that is always null. */
  def orderByNulls(column: String, ordinal: Int): Throwable =
    unsupported(s"ordering by column $ordinal, $column, which is always null")

  /** Rows cannot be ordered by a column whose values differ in size. */
  def orderByVariableSize(column: String, ordinal: Int): Throwable =
    unsupported(s"ordering by column $ordinal, $column, whose values differ in size")
}
