package io.holdfast.families

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair
import org.apache.spark.unsafe.Platform

import io.holdfast.rows.{RowCounts, RowFormat, RowIterator, RowReader, RowVerification}
import io.holdfast.table.{ListCursor, MemoryUse, RowCursor, RowRecord, Rows, RowsOfMoment}

/** Shows the rows of a column family with several values for a key. What asks for one value gets the
  * first, as in Spark's RocksDB provider. For one thread.
  *
  * @param heads
  *   the rows of the keys
  * @param parts
  *   the parts of lists above the first
  */
final private[holdfast] class ListRowReader(
    format: RowFormat,
    heads: Rows,
    parts: Rows,
    counts: RowCounts,
    walks: MemoryUse)
    extends RowReader(format, heads, counts, walks) {
  private[this] val verifyEvery = format.verifyEvery
  private[this] var reads = 0L
  private[this] val firsts = new ListCursor(parts)

  override def values(keyRow: UnsafeRow): Iterator[UnsafeRow] = {
    val row = find(keyRow)
    if (row == Rows.Absent) Iterator.empty
    else {
      val lists = new ListCursor(parts)
      open(lists, heads.page(row), Rows.offset(row))
      new ValueIterator(lists)
    }
  }

  override protected def pointAtValue(row: UnsafeRow, page: Array[Byte], offset: Int): Unit = {
    firsts.openFirst(page, offset)
    verifyParts(firsts, page, offset)
    val _ = firsts.next()
    pointAt(row, firsts.page, firsts.offset, firsts.length)
  }

  // Keys and parts are read at the same moment: the lists of keys ahead may change meanwhile.
  override protected def overValues(cursor: RowCursor, tell: Long => Unit): RowIterator =
    new PairIterator(cursor, parts.moment(), firstAlone = false, tell)

  override protected def over(cursor: RowCursor, tell: Long => Unit): RowIterator =
    new PairIterator(cursor, parts.moment(), firstAlone = true, tell)

  private[this] def open(lists: ListCursor, page: Array[Byte], offset: Int): Unit = {
    lists.open(page, offset)
    verifyParts(lists, page, offset)
  }

  private[this] def verifyParts(lists: ListCursor, page: Array[Byte], offset: Int): Unit = {
    verify(page, offset)
    var part = 0
    while (part < lists.partCount) {
      verify(lists.partPage(part), lists.partOffset(part))
      part += 1
    }
  }

  private[this] def verify(page: Array[Byte], offset: Int): Unit =
    if (verifyEvery != 0L) {
      reads += 1
      if (reads % verifyEvery == 0) RowVerification.verify(page, offset, format.store)
    }

  private[this] def pointAt(row: UnsafeRow, page: Array[Byte], offset: Int, length: Int): Unit =
    row.pointTo(page, Platform.BYTE_ARRAY_OFFSET.toLong + offset, length)

  private final class ValueIterator(lists: ListCursor) extends Iterator[UnsafeRow] {
    private[this] val row = new UnsafeRow(format.valueSchema.length)
    private[this] var onNext = lists.next()

    override def hasNext: Boolean = onNext

    override def next(): UnsafeRow = {
      if (!onNext) throw new NoSuchElementException("the key has no more values")
      pointAt(row, lists.page, lists.offset, lists.length)
      onNext = lists.next()
      row
    }
  }

  /** A pair for each value of each key, or for its first.
    *
    * @param moment
    *   the parts as they were when the cursor was opened
    */
  private final class PairIterator(
      cursor: RowCursor,
      moment: RowsOfMoment,
      firstAlone: Boolean,
      tell: Long => Unit)
      extends RowIterator {
    private[this] val keyRow = new UnsafeRow(format.keySchema.length)
    private[this] val valueRow = new UnsafeRow(format.valueSchema.length)
    private[this] val pair = new UnsafeRowPair
    private[this] val lists = new ListCursor(moment)
    private[this] var hasKey = false
    private[this] var onNext = false
    private[this] var shown = 0L

    override def hasNext: Boolean = {
      while (!onNext && (hasKey || nextKey())) {
        onNext = lists.next()
        hasKey = onNext
      }
      onNext
    }

    override def next(): UnsafeRowPair = {
      if (!hasNext) throw new NoSuchElementException("the iterator has no more rows")
      onNext = false
      pointAt(valueRow, lists.page, lists.offset, lists.length)
      pair.withRows(keyRow, valueRow)
    }

    override def close(): Unit = {
      hasKey = false
      cursor.close()
      moment.close()
      tell(shown)
      shown = 0L
    }

    private[this] def nextKey(): Boolean = {
      hasKey = cursor.next()
      if (hasKey) {
        shown += 1
        val page = cursor.page
        val offset = cursor.offset
        pointAt(keyRow, page, RowRecord.keyOffset(offset), RowRecord.keyLength(page, offset))
        if (firstAlone) {
          lists.openFirst(page, offset)
          verifyParts(lists, page, offset)
        } else open(lists, page, offset)
      } else close()
      hasKey
    }
  }
}
