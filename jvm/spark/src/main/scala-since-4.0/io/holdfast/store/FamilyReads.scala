package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  StateStore,
  StateStoreIterator,
  UnsafeRowPair
}

import io.holdfast.rows.{RowIterator, RowReader, Unsupported}

/** Reading as Spark asks for it from 4.0 on: by the name of a column family, of which most stores have
  * the default one alone. What a store does not do is refused with Spark's own errors.
  */
private[holdfast] trait FamilyReads extends RowAccess {

  override def get(key: UnsafeRow, colFamilyName: String): UnsafeRow =
    readerOf("get", colFamilyName).get(key)

  override def iterator(colFamilyName: String): StateStoreIterator[UnsafeRowPair] = {
    val rows = readerOf("iterator", colFamilyName)
    shown(if (rows eq reader) walk() else rows.iterator())
  }

  override def prefixScan(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    shown(readerOf("prefixScan", colFamilyName).prefixScan(prefixKey))

  override def valuesIterator(key: UnsafeRow, colFamilyName: String): Iterator[UnsafeRow] =
    readerOf("valuesIterator", colFamilyName).values(key)

  /** The rows of a column family.
    *
    * @param operation
    *   what they are asked for, in messages
    * @throws org.apache.spark.SparkUnsupportedOperationException
    *   if there is no such family
    */
  protected def readerOf(operation: String, colFamilyName: String): RowReader = {
    Unsupported.checkColumnFamily(colFamilyName)
    reader
  }

  /** The names of the column families. */
  protected def familyNames: Set[String] = Set(StateStore.DEFAULT_COL_FAMILY_NAME)

  /** Rows as Spark takes them. */
  final protected def shown(rows: RowIterator): StateStoreIterator[UnsafeRowPair] =
    new StateStoreIterator(rows, () => rows.close())
}
