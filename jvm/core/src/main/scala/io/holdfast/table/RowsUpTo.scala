package io.holdfast.table

/** Those rows of a walk whose time is at or before a threshold. */
private[table] final class RowsUpTo(rows: TableCursor, eventTime: EventTime, threshold: Long)
    extends TableCursor
    with EvictionCursor {
  private[this] var looked = 0L
  private[this] var pages = 0
  private[this] var lastPage: Array[Byte] = null

  override def rowsLookedAt: Long = looked
  override def pagesLookedAt: Int = pages
  override def pagesSkipped: Int = 0

  override def next(): Boolean = {
    while (rows.next()) {
      looked += 1
      if (rows.page ne lastPage) {
        lastPage = rows.page
        pages += 1
      }
      if (eventTime.of(rows.page, rows.offset) <= threshold) return true
    }
    close()
    false
  }

  override def page: Array[Byte] = rows.page
  override def offset: Int = rows.offset
  override protected def finish(): Unit = rows.close()
}
