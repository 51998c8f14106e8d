package io.holdfast.bench

import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}

/** The rows of a walk, whose calls are timed. To look at the clock takes as long as many a call, so
  * after some thousand rows one stands for those that follow it.
  *
  * @param start
  *   when the walk was asked for
  * @param inCalls
  *   nanoseconds that it took to open it
  */
final private class TimedRows(
    rows: StateStoreIterator[UnsafeRowPair],
    start: Long,
    private var inCalls: Long)
    extends Iterator[UnsafeRowPair] {
  import TimedRows._

  private var count = 0L
  // How many rows the next one stands for; 0 if it is not timed.
  private var weight = 1L
  private var ended = false

  override def hasNext: Boolean = {
    val found =
      if (weight == 0L) rows.hasNext
      else {
        val before = System.nanoTime()
        val found = rows.hasNext
        inCalls += (System.nanoTime() - before) * weight
        found
      }
    if (!found) end()
    found
  }

  override def next(): UnsafeRowPair = {
    val row =
      if (weight == 0L) rows.next()
      else {
        val before = System.nanoTime()
        val row = rows.next()
        inCalls += (System.nanoTime() - before) * weight
        row
      }
    count += 1
    weight =
      if (count < OneByOne) 1L
      else if (count % OneOf == 0L) OneOf
      else 0L
    row
  }

  private def close(): Unit = {
    rows.close()
    end()
  }

  private def end(): Unit = if (!ended) {
    ended = true
    TimedStateStoreProvider.walked(inCalls, System.nanoTime() - start)
  }
}

private object TimedRows {

  def of(open: => StateStoreIterator[UnsafeRowPair]): StateStoreIterator[UnsafeRowPair] = {
    val start = System.nanoTime()
    val opened = open
    val rows = new TimedRows(opened, start, System.nanoTime() - start)
    new StateStoreIterator(rows, () => rows.close())
  }

  private val OneByOne = 4000L

  // No divisor of the groups that rows are read in.
  private val OneOf = 61L
}
