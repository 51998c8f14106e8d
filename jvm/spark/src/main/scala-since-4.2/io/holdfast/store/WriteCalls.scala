package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Writing as Spark asks for it from 4.2 on. */
private[holdfast] trait WriteCalls extends ListWrites {

  override def deleteRange(beginKey: UnsafeRow, endKey: UnsafeRow, colFamilyName: String): Unit = {
    val family = writerOf("deleteRange", colFamilyName)
    if (family == null) checkUpdating("deleteRange")
    val rows = readerOf("deleteRange", colFamilyName).rangeScan(Some(beginKey), Some(endKey))
    try {
      if (family == null) rows.foreach(pair => removeRow(pair.key))
      else rows.foreach(pair => family.remove(pair.key))
    } finally rows.close()
  }
}
