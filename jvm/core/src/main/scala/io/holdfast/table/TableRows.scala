package io.holdfast.table

/** The rows of one table of a version. Immutable; any thread may read.
  *
  * @param number
  *   of the table
  * @param scans
  *   is told what the order takes that is made for these readers alone
  */
private[table] final class TableRows(table: Table, number: Int, pages: RowPages, scans: MemoryUse)
    extends Rows {
  private[this] val index = table.index
  private[this] val pageTable = pages.table

  override def keyCount: Long = index.keyCount

  override def find(key: Array[Byte], keyOffset: Int, keyLength: Int): Long =
    TableMoment.find(index, pageTable, key, keyOffset, keyLength)

  override private[holdfast] def fetch(hashes: Array[Long], count: Int): Long =
    TableMoment.fetch(index, pageTable, hashes, count)

  override def moment(): RowsOfMoment = new TableMoment(index, pageTable)

  override def page(row: Long): Array[Byte] = pageTable.page(Slot.page(row))

  override def cursor(memory: MemoryUse): RowCursor =
    new PageCursor(Array(index), pageTable, pages.ids.end, memory)

  override def cursorUpTo(
      eventTime: EventTime,
      threshold: Long,
      memory: MemoryUse): EvictionCursor =
    new TimedPageCursor(
      index,
      pageTable,
      pages.ids.end,
      number,
      timesBy(eventTime),
      threshold,
      walked = null,
      memory)

  override def scan(from: Option[Array[Long]], until: Option[Array[Long]]): ScanCursor =
    new OrderedCursor(ordered, index, pageTable, from, until)

  // Made for these readers where no transaction has made it: the version stays as it is counted.
  private[this] lazy val ordered: OrderedIndex = table.ordered.getOrElse {
    val order = table.order.getOrElse(throw Rows.notOrdered)
    OrderedIndexWriter.of(order, cursor(scans), scans).snapshot()
  }

  private[this] def timesBy(eventTime: EventTime): PageTimes =
    table.times
      .filter(_.eventTime == eventTime)
      .getOrElse(PageTimesWriter.unknown(eventTime, pages.ids.end, MemoryUse.Unlimited).view)
}
