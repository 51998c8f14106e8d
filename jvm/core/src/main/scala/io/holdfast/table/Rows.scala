package io.holdfast.table

/** The rows of one table, in a published [[Version]] or in an open [[Transaction]].
  *
  * A row is named by a long, its row reference, which is good for as long as the rows it came from:
  * {{{
  * val row = rows.find(key, 0, key.length)
  * if (row != Rows.Absent) {
  *   val page = rows.page(row)
  *   val offset = Rows.offset(row)
  *   // RowRecord.valueOffset(page, offset), RowRecord.valueLength(page, offset)
  * }
  * }}}
  * The bytes of a row never change. Whoever keeps the page array may go on reading them after the
  * version has been dropped and after the transaction has ended.
  */
trait Rows extends RowsByKey {

  /** Number of rows. O(1). */
  def keyCount: Long

  /** The rows as they are now, to be looked up beside a walk over another table. O(1). */
  def moment(): RowsOfMoment

  /** A walk over the rows as they are now, in no particular order: changes made later neither disturb
    * it nor appear in it. O(rows and pages) already for the first row; until the walk is closed or at
    * its end it holds a 64th of the bytes of the pages.
    *
    * @param memory
    *   is told what the walk holds, and may refuse it
    */
  def cursor(memory: MemoryUse = MemoryUse.Unlimited): RowCursor

  /** A walk, like [[cursor]], over the rows whose time is at or before a threshold: those that have
    * none ([[EventTime.Always]]) among them. It reads only pages that may have such rows. Where most
    * rows have come to the threshold it may show others of those pages too.
    *
    * @param eventTime
    *   where the time of a row lies. What is known of pages is known of one such place: a walk with
    *   another one reads all of them, and a transaction keeps to the new place from then on
    * @param threshold
    *   in the unit of the column
    * @param memory
    *   is told what the walk holds, and may refuse it
    */
  def cursorUpTo(
      eventTime: EventTime,
      threshold: Long,
      memory: MemoryUse = MemoryUse.Unlimited): EvictionCursor

  /** A walk, like [[cursor]], over the rows between two bounds in the order of the table. The first one
    * of a table other than the first of its store makes the order, in O(rows log rows) and O(pages of the
    * store); it stays in what comes of the transaction, and with a version's reader for as long as that is
    * there.
    *
    * @param from
    *   words of the lower bound, which belongs to the range; from the first row if there is none
    * @param until
    *   words of the upper bound, which does not; to the last row if there is none
    * @throws IllegalStateException
    *   if the table has no order
    */
  def scan(from: Option[Array[Long]], until: Option[Array[Long]]): ScanCursor
}

/** Rows that are looked up by their keys. */
trait RowsByKey {

  /** The row with a key, as a row reference, or [[Rows.Absent]]. */
  def find(key: Array[Byte], keyOffset: Int, keyLength: Int): Long

  /** The page that a row lies in. */
  def page(row: Long): Array[Byte]

  /** Reads what [[find]] is about to read for some keys, so that looking them up waits for memory about
    * once. It changes nothing, and reads other things in vain where rows have changed since.
    *
    * @param hashes
    *   of the keys ([[RowOrder.hash]]); others are there afterwards
    * @return
    *   what was read, for the caller to keep: reads without a result are left out
    */
  private[holdfast] def fetch(hashes: Array[Long], count: Int): Long
}

/** The rows of one table as they were at a moment: changes made later do not appear. It stays good as a
  * [[RowCursor]] does, and costs the changes after it what an open one costs, until it is closed. For one
  * thread at a time; allocates nothing.
  */
trait RowsOfMoment extends RowsByKey with AutoCloseable {

  /** Says that nothing is looked up any more. What was found stays good. Idempotent. */
  override def close(): Unit
}

object Rows {

  /** No row. */
  val Absent: Long = Slot.Empty

  private[table] def notOrdered: IllegalStateException =
    new IllegalStateException(
      "rows are scanned in order, and their table was made without an order")

  /** Where the record of a row begins in its page. */
  def offset(row: Long): Int = Slot.offset(row)

  /** The same row as a reference that is the same however the row was found. Rows are in the order of
    * these in pages that follow each other.
    */
  def place(row: Long): Long = Slot.address(row)
}

/** All tables of a version or of a transaction; its own rows are those of the first. */
trait Tables extends Rows with Footprint {

  /** What the tables are called; none in a store without column families. */
  def families: Families

  /** Number of keys of a column family. O(1). */
  def keyCount(family: Family): Long
}

/** What a version or a transaction takes, all of its tables together. */
trait Footprint {

  /** Bytes that the rows occupy in pages, with record headers and padding. O(1). */
  def liveBytes: Long

  /** Heap bytes of everything the rows are kept in: pages, with their holes, and indexes. O(1). */
  def heldBytes: Long
}
