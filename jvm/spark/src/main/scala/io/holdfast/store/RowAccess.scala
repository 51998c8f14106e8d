package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  StateStoreId,
  StateStoreIterator,
  UnsafeRowPair
}

import io.holdfast.conf.StoreContext
import io.holdfast.rows.{RowReader, Unsupported}

/** What read-only and writable stores share: access to the rows of the default column family. What
  * Holdfast does not do is refused with Spark's own errors. For one thread.
  */
private[holdfast] trait RowAccess extends ReadStateStore {
  protected def context: StoreContext
  protected def reader: RowReader

  override def id: StateStoreId = context.id

  override def get(key: UnsafeRow, colFamilyName: String): UnsafeRow = {
    Unsupported.checkColumnFamily(colFamilyName)
    reader.get(key)
  }

  override def multiGet(keys: Array[UnsafeRow], colFamilyName: String): Iterator[UnsafeRow] = {
    Unsupported.checkColumnFamily(colFamilyName)
    reader.multiGet(keys)
  }

  override def iterator(colFamilyName: String): StateStoreIterator[UnsafeRowPair] = {
    Unsupported.checkColumnFamily(colFamilyName)
    reader.iterator()
  }

  override def prefixScan(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] = {
    Unsupported.checkColumnFamily(colFamilyName)
    reader.prefixScan(prefixKey)
  }

  override def rangeScan(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] = {
    Unsupported.checkColumnFamily(colFamilyName)
    reader.rangeScan(startKey, endKey)
  }

  override def rangeScanWithMultiValues(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    throw Unsupported.unsupported("rangeScanWithMultiValues")

  override def valuesIterator(key: UnsafeRow, colFamilyName: String): Iterator[UnsafeRow] =
    throw Unsupported.unsupported("multipleValuesPerKey")

  override def prefixScanWithMultiValues(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    throw Unsupported.unsupported("prefixScanWithMultiValues")

  override def iteratorWithMultiValues(colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    throw Unsupported.unsupported("iteratorWithMultiValues")

  override def allColumnFamilyNames: Set[String] = Set(StateStore.DEFAULT_COL_FAMILY_NAME)
}
