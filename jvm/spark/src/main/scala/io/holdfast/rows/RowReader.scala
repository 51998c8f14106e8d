package io.holdfast.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair
import org.apache.spark.unsafe.Platform

import io.holdfast.table.{EventTime, EvictionCursor, MemoryUse, RowCursor, RowRecord, Rows}

/** Shows rows of the engine as Spark's `UnsafeRow`s that point into the row pages.
  *
  * A row object is reused by the next call of the same kind, as Spark's RocksDB provider does it
  * (`RocksDBStateEncoder`, Spark 4.2); the bytes it points at never change. With row checksums on,
  * every n-th row read is verified, as
  * `spark.sql.streaming.stateStore.rowChecksum.readVerificationRatio` says. For one thread.
  *
  * @param counts
  *   counts what is asked for
  * @param walks
  *   is told what the walks over all rows hold until they end
  */
private[holdfast] class RowReader(
    format: RowFormat,
    rows: Rows,
    counts: RowCounts,
    walks: MemoryUse) {
  private[this] val keyFields = format.keySchema.length
  private[this] val valueFields = format.valueSchema.length
  private[this] val trailer = format.trailerBytes
  private[this] val verifyEvery = format.verifyEvery
  private[this] var reads = 0L
  private[this] val key = new RowBytes
  private[this] val value = new UnsafeRow(valueFields)
  private[this] var ties: TieBreaker = null

  /** The value of a key, or null. */
  final def get(keyRow: UnsafeRow): UnsafeRow = {
    val row = find(keyRow)
    if (row == Rows.Absent) null
    else {
      pointAtValue(value, rows.page(row), Rows.offset(row))
      value
    }
  }

  /** The row of a key, or [[Rows.Absent]]. */
  final protected def find(keyRow: UnsafeRow): Long = {
    counts.gets += 1
    key.set(keyRow)
    rows.find(key.bytes, key.offset, key.length)
  }

  /** All values of a key, in their order.
    *
    * @throws org.apache.spark.sql.execution.streaming.state.StateStoreUnsupportedOperationException
    *   if a key has one value
    */
  def values(keyRow: UnsafeRow): Iterator[UnsafeRow] = {
    val _ = keyRow
    throw oneValue("valuesIterator")
  }

  /** The values of keys, or nulls, as rows that stay as they are. */
  def multiGet(keys: Array[UnsafeRow]): Iterator[UnsafeRow] =
    keys.iterator.map { keyRow =>
      val found = get(keyRow)
      if (found == null) null else copyOf(found)
    }

  /** All rows as they are now, in the order of the store if it is one of ranges or its format says so. */
  def iterator(): RowIterator = over(allRows(), shown => counts.walked += shown)

  /** All rows as they are now, in no order: a store that nobody has scanned gets none for it. */
  final def unordered(): RowIterator = over(rows.cursor(walks))

  /** All rows as [[iterator]] shows them, each as often as its key has values. */
  def iteratorOfValues(): RowIterator =
    overValues(allRows(), shown => counts.walked += shown)

  private[this] def allRows(): RowCursor = {
    counts.iterations += 1
    format.order match {
      case Some(order) if format.walksInOrder || order.isInstanceOf[RangeOrder] =>
        rows.scan(None, None)
      case _ => rows.cursor(walks)
    }
  }

  /** In place of all rows those whose time is at or before a threshold, or that have none.
    *
    * @param countedBy
    *   counts the rows that are looked at
    */
  def iteratorUpTo(eventTime: EventTime, threshold: Long, countedBy: RowCounts): RowIterator = {
    counts.iterations += 1
    val cursor = rows.cursorUpTo(eventTime, threshold, walks)
    countedBy.eviction(cursor)
    over(cursor)
  }

  /** In place of all rows those whose keys begin keys of some rows of another store.
    *
    * @param others
    *   those rows
    * @param countedBy
    *   counts those that are looked at
    * @return
    *   nothing if one of the keys is missing, or if there is no memory for them
    */
  def iteratorOfKeys(others: EvictionCursor, countedBy: RowCounts): Option[RowIterator] = {
    val cursor = KeysOfRows.open(rows, format.keySchema, others, walks)
    cursor.map { cursor =>
      counts.iterations += 1
      countedBy.eviction(others)
      over(cursor)
    }
  }

  /** All rows whose key begins with the columns of a prefix.
    *
    * @throws org.apache.spark.sql.execution.streaming.state.StateStoreIncorrectNumOrderingColsForPrefixScan
    *   if the prefix has not the width that the store was made for
    */
  def prefixScan(prefix: UnsafeRow): RowIterator = over(rowsWith(prefix))

  /** Rows as [[prefixScan]] shows them, each as often as its key has values. */
  def prefixScanOfValues(prefix: UnsafeRow): RowIterator = overValues(rowsWith(prefix))

  private[this] def rowsWith(prefix: UnsafeRow): RowCursor = {
    counts.scans += 1
    format.order match {
      case Some(order: PrefixOrder) =>
        if (prefix.numFields != order.count) throw Unsupported.prefixOf(prefix.numFields)
        Scans.prefix(rows, order, keyFields, prefix)
      case Some(order: RangeOrder) =>
        if (prefix.numFields != order.count) throw Unsupported.prefixOf(prefix.numFields)
        Scans.withColumns(rows, order, prefix)
      case Some(order: TimesOfPrefixOrder) =>
        if (prefix.numFields != order.count) throw Unsupported.prefixOf(prefix.numFields)
        Scans.timesOf(rows, order, keyFields, prefix)
      case _ =>
        throw Unsupported.unsupported("prefixScan on a store that was made without prefix keys")
    }
  }

  /** All rows from one key, which belongs to the range, to another, which does not. */
  def rangeScan(start: Option[UnsafeRow], end: Option[UnsafeRow]): RowIterator =
    over(rowsBetween(start, end))

  /** Rows as [[rangeScan]] shows them, each as often as its key has values. */
  def rangeScanOfValues(start: Option[UnsafeRow], end: Option[UnsafeRow]): RowIterator =
    overValues(rowsBetween(start, end))

  private[this] def rowsBetween(start: Option[UnsafeRow], end: Option[UnsafeRow]): RowCursor =
    format.order match {
      case Some(order: RangeOrder) =>
        counts.scans += 1
        if (ties == null) ties = order.newTieBreaker()
        ofRange(Scans.range(rows, order, ties, start, end))
      case Some(order: TimesOfPrefixOrder) =>
        counts.scans += 1
        Scans.timesBetween(rows, order, keyFields, start, end)
      case _ =>
        throw Unsupported.unsupported("rangeScan on a store that was made without range keys")
    }

  /** The rows of a range that were found, as a scan shows them. */
  protected def ofRange(found: RowCursor): RowCursor = found

  /** Shows the rows of a cursor, each once. */
  protected def over(cursor: RowCursor, tell: Long => Unit = _ => ()): RowIterator =
    new CursorIterator(cursor, tell)

  /** Shows the rows of a cursor, each as often as its key has values. */
  protected def overValues(cursor: RowCursor, tell: Long => Unit = _ => ()): RowIterator = {
    cursor.close()
    tell(0L)
    throw oneValue("an iterator of all values")
  }

  private[this] def oneValue(operation: String): Throwable =
    Unsupported.unsupported(s"$operation on ${format.store}, whose keys have one value each")

  // Another row object on the same bytes: they never change, so they need no copy.
  private[this] def copyOf(row: UnsafeRow): UnsafeRow = {
    val other = new UnsafeRow(valueFields)
    other.pointTo(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes)
    other
  }

  protected def pointAtValue(row: UnsafeRow, page: Array[Byte], offset: Int): Unit = {
    val valueOffset = RowRecord.valueOffset(page, offset)
    val length = RowRecord.valueLength(page, offset) - trailer
    if (verifyEvery != 0L) verify(page, offset)
    row.pointTo(page, Platform.BYTE_ARRAY_OFFSET + valueOffset, length)
  }

  private[this] def verify(page: Array[Byte], offset: Int): Unit = {
    reads += 1
    if (reads % verifyEvery == 0) RowVerification.verify(page, offset, format.store)
  }

  /** @param tell
    *   is told, when the walk is at its end or closed, how many rows it has shown
    */
  private final class CursorIterator(cursor: RowCursor, tell: Long => Unit) extends RowIterator {
    private[this] val keyRow = new UnsafeRow(keyFields)
    private[this] val valueRow = new UnsafeRow(valueFields)
    private[this] val pair = new UnsafeRowPair
    private[this] var onNext = false
    private[this] var atEnd = false
    private[this] var shown = 0L

    override def hasNext: Boolean = {
      if (!onNext && !atEnd) {
        onNext = cursor.next()
        if (!onNext) end()
      }
      onNext
    }

    override def close(): Unit = {
      cursor.close()
      end()
    }

    private[this] def end(): Unit = {
      atEnd = true
      tell(shown)
      shown = 0L
    }

    override def next(): UnsafeRowPair = {
      if (!hasNext) throw new NoSuchElementException("the iterator has no more rows")
      onNext = false
      shown += 1
      val page = cursor.page
      val offset = cursor.offset
      keyRow.pointTo(
        page,
        Platform.BYTE_ARRAY_OFFSET + RowRecord.keyOffset(offset),
        RowRecord.keyLength(page, offset))
      pointAtValue(valueRow, page, offset)
      // Callers may have put other rows into the pair.
      pair.withRows(keyRow, valueRow)
    }
  }
}
