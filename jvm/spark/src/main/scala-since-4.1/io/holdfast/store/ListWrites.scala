package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.holdfast.rows.Unsupported

/** Lists of values, which Spark has from 4.1 on. */
private[holdfast] trait ListWrites extends FamilyWrites {

  override def putList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    throw Unsupported.unsupported("putList")

  override def mergeList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    throw Unsupported.unsupported("mergeList")
}
