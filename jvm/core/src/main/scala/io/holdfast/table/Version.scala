package io.holdfast.table

/** All rows of one version of a state store partition: an immutable value that shares its structure
  * with the versions before and after it.
  *
  * Opening a transaction on it costs the same however many rows it has. Any number of threads may
  * read it and any number of transactions may start from it; nobody waits and nobody copies. The
  * garbage collector takes back what no version, transaction or cursor in use holds.
  *
  * Its own rows are those of its first table.
  *
  * @param tables
  *   by number; the first is always there
  * @param pages
  *   where the rows of all tables lie
  * @param tail
  *   the page that the next transaction goes on filling
  * @param families
  *   what its tables are called; none in a store without column families
  * @param replacedBytes
  *   heap bytes of the parent that are no part of this version
  * @param addedBytes
  *   heap bytes of this version that are no part of the parent
  */
final class Version private[table] (
    private[table] val tables: Array[Table],
    private[table] val pages: RowPages,
    private[table] val tail: TailPage,
    val families: Families,
    private[table] val id: Long,
    private[table] val parentId: Long,
    private[table] val replacedBytes: Long,
    private[table] val addedBytes: Long)
    extends Tables {
  private[this] val first = new TableRows(tables(0), 0, pages, MemoryUse.Unlimited)

  override def keyCount: Long = first.keyCount

  override def liveBytes: Long = pages.liveBytes

  override def heldBytes: Long = {
    var bytes = pages.heldBytes
    tables.foreach(table => bytes += table.bytes)
    bytes
  }

  override def keyCount(family: Family): Long = known(family.keyTable).index.keyCount

  /** The rows of a table; of one that the version does not have, none.
    *
    * @param number
    *   0 for the first
    * @param order
    *   in which a table that the version does not have is scanned, if it is
    * @param scans
    *   is told what readers of the table need for scans of what no transaction has scanned, as long as
    *   they are there, and may refuse it; for one thread
    */
  def table(
      number: Int,
      order: Option[RowOrder] = None,
      scans: MemoryUse = MemoryUse.Unlimited): Rows =
    if (number == 0) first
    else {
      val found = known(number)
      val rows = if ((found eq Table.none) && order.isDefined) Table.empty(order) else found
      new TableRows(rows, number, pages, scans)
    }

  private[this] def known(number: Int): Table =
    if (number < tables.length) tables(number) else Table.none

  override def find(key: Array[Byte], keyOffset: Int, keyLength: Int): Long =
    first.find(key, keyOffset, keyLength)

  override def page(row: Long): Array[Byte] = first.page(row)

  override private[holdfast] def fetch(hashes: Array[Long], count: Int): Long =
    first.fetch(hashes, count)

  override def moment(): RowsOfMoment = first.moment()

  override def cursor(memory: MemoryUse): RowCursor = first.cursor(memory)

  /** A walk, like [[cursor]], over the rows of all tables. */
  def cursorOfAll(memory: MemoryUse = MemoryUse.Unlimited): RowCursor =
    new PageCursor(tables.map(_.index), pages.table, pages.ids.end, memory)

  override def cursorUpTo(
      eventTime: EventTime,
      threshold: Long,
      memory: MemoryUse): EvictionCursor =
    first.cursorUpTo(eventTime, threshold, memory)

  override def scan(from: Option[Array[Long]], until: Option[Array[Long]]): ScanCursor =
    first.scan(from, until)

  /** Starts a transaction whose result, if it commits, is the next version. O(1).
    *
    * @param memory
    *   is told how large the transaction becomes, and may refuse
    * @param eventTime
    *   where the time of the rows of the first table lies, if it is known: the transaction then knows
    *   of every page that it writes which time is the least in it ([[Rows.cursorUpTo]]). It goes on
    *   with what this version knows if it is not
    * @param early
    *   is told of rows that the transaction has written before its changes are, if somebody is
    */
  def open(
      memory: MemoryUse = MemoryUse.Unlimited,
      eventTime: Option[EventTime] = None,
      early: Option[EarlyRows] = None): Transaction =
    new Transaction(this, memory, eventTime, early, isLoad = false)

  /** As [[open]], for a transaction that puts each key once, as that of a snapshot does: it is faster
    * then.
    */
  def openToLoad(memory: MemoryUse, eventTime: Option[EventTime]): Transaction =
    new Transaction(this, memory, eventTime, early = None, isLoad = true)
}

object Version {

  /** The version without rows: version 0 of every state store that is not scanned. */
  val empty: Version = empty(None)

  /** The version without rows of a store that is scanned in an order, if one is given. */
  def empty(order: Option[RowOrder]): Version =
    new Version(
      Array(Table.first(order)),
      RowPages.empty,
      TailPage.none,
      Families.none,
      Stamps.next(),
      parentId = 0L,
      replacedBytes = 0L,
      addedBytes = 0L)

  /** Heap bytes of several versions held at once, shared structure counted once.
    *
    * Exact for a version and its successors. Versions that were loaded from files separately share
    * nothing, and versions between which one was dropped are counted as if they did not.
    */
  def heldBytes(versions: Iterable[Version]): Long = {
    val successors = versions.iterator.map(version => version.parentId -> version).toMap
    versions.iterator.map { version =>
      successors.get(version.id).fold(version.heldBytes)(_.replacedBytes)
    }.sum
  }
}
