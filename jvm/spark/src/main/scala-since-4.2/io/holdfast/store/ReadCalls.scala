package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}

import io.holdfast.rows.Unsupported

/** Reading as Spark asks for it from 4.2 on: many keys at once, and ranges of them. */
private[holdfast] trait ReadCalls extends FamilyReads {

  override def multiGet(keys: Array[UnsafeRow], colFamilyName: String): Iterator[UnsafeRow] = {
    Unsupported.checkColumnFamily(colFamilyName)
    reader.multiGet(keys)
  }

  override def rangeScan(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] = {
    Unsupported.checkColumnFamily(colFamilyName)
    shown(reader.rangeScan(startKey, endKey))
  }

  override def rangeScanWithMultiValues(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    throw Unsupported.unsupported("rangeScanWithMultiValues")

  override def prefixScanWithMultiValues(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    throw Unsupported.unsupported("prefixScanWithMultiValues")

  override def iteratorWithMultiValues(colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    throw Unsupported.unsupported("iteratorWithMultiValues")

  override def allColumnFamilyNames: Set[String] = Set(StateStore.DEFAULT_COL_FAMILY_NAME)
}
