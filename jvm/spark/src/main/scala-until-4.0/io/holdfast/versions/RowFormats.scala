package io.holdfast.versions

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider

import io.holdfast.conf.StoreContext

/** Whether rows are of the schema that an operator gave, as Spark checks it. Any thread may call. */
private[versions] object RowFormats {

  /** @throws java.lang.Exception
    *   of Spark's own if they are not, unless the query's settings say that nobody should look
    */
  def check(key: UnsafeRow, value: UnsafeRow, store: StoreContext): Unit =
    StateStoreProvider.validateStateRowFormat(
      key,
      store.keySchema,
      value,
      store.valueSchema,
      store.conf)
}
