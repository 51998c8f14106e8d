package io.holdfast

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  StateStoreErrors,
  StateStoreId,
  StateStoreIterator,
  UnsafeRowPair
}

/** What read-only and writable stores share: access to the rows of the default column family. What
  * Holdfast does not do is refused with Spark's own errors. For one thread.
  */
private[holdfast] trait RowAccess extends ReadStateStore {
  protected def context: StoreContext
  protected def reader: RowReader

  override def id: StateStoreId = context.id

  override def get(key: UnsafeRow, colFamilyName: String): UnsafeRow = {
    RowAccess.checkColumnFamily(colFamilyName)
    reader.get(key)
  }

  override def multiGet(keys: Array[UnsafeRow], colFamilyName: String): Iterator[UnsafeRow] = {
    RowAccess.checkColumnFamily(colFamilyName)
    reader.multiGet(keys)
  }

  override def iterator(colFamilyName: String): StateStoreIterator[UnsafeRowPair] = {
    RowAccess.checkColumnFamily(colFamilyName)
    reader.iterator()
  }

  override def prefixScan(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] = {
    RowAccess.checkColumnFamily(colFamilyName)
    reader.prefixScan(prefixKey)
  }

  override def rangeScan(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] = {
    RowAccess.checkColumnFamily(colFamilyName)
    reader.rangeScan(startKey, endKey)
  }

  override def rangeScanWithMultiValues(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    throw RowAccess.unsupported("rangeScanWithMultiValues")

  override def valuesIterator(key: UnsafeRow, colFamilyName: String): Iterator[UnsafeRow] =
    throw RowAccess.unsupported("multipleValuesPerKey")

  override def prefixScanWithMultiValues(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    throw RowAccess.unsupported("prefixScanWithMultiValues")

  override def iteratorWithMultiValues(colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    throw RowAccess.unsupported("iteratorWithMultiValues")

  override def allColumnFamilyNames: Set[String] = Set(StateStore.DEFAULT_COL_FAMILY_NAME)
}

private[holdfast] object RowAccess {
  val ProviderName = "HoldfastStateStoreProvider"

  def checkColumnFamily(name: String): Unit =
    if ((name ne StateStore.DEFAULT_COL_FAMILY_NAME) && name != StateStore.DEFAULT_COL_FAMILY_NAME) {
      throw StateStoreErrors.multipleColumnFamiliesNotSupported(ProviderName)
    }

  def unsupported(operation: String): Throwable =
    StateStoreErrors.unsupportedOperationException(operation, ProviderName)
}

/** A version for reading. It holds an immutable value, so there is nothing to release, and it stays
  * good for as long as somebody holds it. For one thread.
  */
final private[holdfast] class HoldfastReadStateStore(
    protected val context: StoreContext,
    val opened: OpenedVersion)
    extends RowAccess {
  protected val reader = new RowReader(context, opened.rows)

  override def version: Long = opened.id.number

  override def abort(): Unit = ()

  override def release(): Unit = ()

  override def toString: String = context.describe("HoldfastReadStateStore", Some(version))
}
