package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair

/** Reading as Spark 3.5 asks for it: there are no column families. */
private[holdfast] trait ReadCalls extends RowAccess {

  override def get(key: UnsafeRow): UnsafeRow = reader.get(key)

  override def iterator(): Iterator[UnsafeRowPair] = walk()

  override def prefixScan(prefixKey: UnsafeRow): Iterator[UnsafeRowPair] =
    reader.prefixScan(prefixKey)
}
