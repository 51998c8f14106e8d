package io.holdfast.rows

import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair

/** Rows one after the other, from a walk that holds memory until it is at its end or closed. For one
  * thread.
  */
private[holdfast] trait RowIterator extends Iterator[UnsafeRowPair] with AutoCloseable {
  override def close(): Unit
}
