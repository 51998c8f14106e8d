package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Lists of values, which Spark has from 4.1 on. */
private[holdfast] trait ListWrites extends FamilyWrites {

  override def putList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    change("putList", key, values, colFamilyName, append = false)

  override def mergeList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    change("mergeList", key, values, colFamilyName, append = true)
}
