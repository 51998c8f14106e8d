package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Writing as Spark 3.5 asks for it. */
private[holdfast] trait WriteCalls extends RowChanges with ReadCalls {

  override def put(key: UnsafeRow, value: UnsafeRow): Unit = putRow(key, value)

  override def remove(key: UnsafeRow): Unit = removeRow(key)
}
