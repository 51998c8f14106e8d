package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.holdfast.rows.Unsupported

/** Writing as Spark asks for it from 4.2 on. */
private[holdfast] trait WriteCalls extends ListWrites {

  override def deleteRange(beginKey: UnsafeRow, endKey: UnsafeRow, colFamilyName: String): Unit = {
    Unsupported.checkColumnFamily(colFamilyName)
    checkUpdating("deleteRange")
    reader.rangeScan(Some(beginKey), Some(endKey)).foreach(pair => removeRow(pair.key))
  }
}
