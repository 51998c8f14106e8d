package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStoreId}

import io.holdfast.conf.StoreContext
import io.holdfast.rows.{RowIterator, RowReader}

/** What read-only and writable stores share: access to the rows. The calls by which Spark asks for
  * them differ between lines and lie in `ReadCalls` and `WriteCalls`. For one thread.
  */
private[holdfast] trait RowAccess extends ReadStateStore {
  protected def context: StoreContext
  protected def reader: RowReader

  override def id: StateStoreId = context.id

  /** Opens a walk over all rows. */
  protected def walk(): RowIterator = reader.iterator()
}
