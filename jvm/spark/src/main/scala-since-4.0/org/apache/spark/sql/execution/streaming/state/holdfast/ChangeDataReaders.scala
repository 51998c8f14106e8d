package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.RecordType
import org.apache.spark.util.NextIterator

/** What reads the changes of a store, which Spark has from 4.0 on. */
object ChangeDataReaders {

  /** What `getStateStoreChangeDataReader` returns. */
  type ChangeDataReader = NextIterator[(RecordType.Value, UnsafeRow, UnsafeRow, Long)]

  /** One that shows given changes. */
  def over(changes: Iterator[(RecordType.Value, UnsafeRow, UnsafeRow, Long)]): ChangeDataReader =
    new ChangeDataReader {
      override protected def getNext(): (RecordType.Value, UnsafeRow, UnsafeRow, Long) =
        if (changes.hasNext) changes.next()
        else {
          finished = true
          null
        }

      override protected def close(): Unit = ()
    }
}
