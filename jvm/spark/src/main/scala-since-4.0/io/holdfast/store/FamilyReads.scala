package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}

import io.holdfast.rows.{RowIterator, Unsupported}

/** Reading as Spark asks for it from 4.0 on: by the name of a column family, of which there is the
  * default one. What Holdfast does not do is refused with Spark's own errors.
  */
private[holdfast] trait FamilyReads extends RowAccess {

  override def get(key: UnsafeRow, colFamilyName: String): UnsafeRow = {
    Unsupported.checkColumnFamily(colFamilyName)
    reader.get(key)
  }

  override def iterator(colFamilyName: String): StateStoreIterator[UnsafeRowPair] = {
    Unsupported.checkColumnFamily(colFamilyName)
    shown(walk())
  }

  override def prefixScan(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] = {
    Unsupported.checkColumnFamily(colFamilyName)
    shown(reader.prefixScan(prefixKey))
  }

  override def valuesIterator(key: UnsafeRow, colFamilyName: String): Iterator[UnsafeRow] =
    throw Unsupported.unsupported("multipleValuesPerKey")

  /** Rows as Spark takes them. */
  final protected def shown(rows: RowIterator): StateStoreIterator[UnsafeRowPair] =
    new StateStoreIterator(rows, () => rows.close())
}
