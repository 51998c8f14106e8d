package io.holdfast.eviction

import org.apache.spark.sql.execution.streaming.state.StateStore

/** Open stores of one side of a stream-stream join. */
final class SideStores(val numbers: StateStore, val values: StateStore) {
  import HintedStores._

  /** Gives a key values with these times. */
  def put(number: Long, times: Long*): Unit = {
    times.zipWithIndex.foreach { case (at, index) =>
      values.put(indexedKey(number, index.toLong), value(at))
    }
    numbers.put(key(number), count(times.size.toLong))
  }

  /** The keys over which a join would walk, with their numbers of values. */
  def walked: Seq[(Long, Long)] =
    numbers.iterator().map(pair => pair.key.getLong(1) -> pair.value.getLong(0)).toSeq

  def commit(): Unit = {
    numbers.commit()
    values.commit()
    ()
  }

  def abort(): Unit = {
    numbers.abort()
    values.abort()
  }
}
