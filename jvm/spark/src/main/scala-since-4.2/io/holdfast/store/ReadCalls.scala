package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}

/** Reading as Spark asks for it from 4.2 on: many keys at once, ranges of them, and all values of each. */
private[holdfast] trait ReadCalls extends FamilyReads {

  override def multiGet(keys: Array[UnsafeRow], colFamilyName: String): Iterator[UnsafeRow] =
    readerOf("multiGet", colFamilyName).multiGet(keys)

  override def rangeScan(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    shown(readerOf("rangeScan", colFamilyName).rangeScan(startKey, endKey))

  override def rangeScanWithMultiValues(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    shown(readerOf("rangeScanWithMultiValues", colFamilyName).rangeScanOfValues(startKey, endKey))

  override def prefixScanWithMultiValues(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    shown(readerOf("prefixScanWithMultiValues", colFamilyName).prefixScanOfValues(prefixKey))

  override def iteratorWithMultiValues(colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    shown(readerOf("iteratorWithMultiValues", colFamilyName).iteratorOfValues())

  override def allColumnFamilyNames: Set[String] = familyNames
}
