package io.holdfast.table

/** All rows of one version of a state store partition: an immutable value that shares its structure
  * with the versions before and after it.
  *
  * Opening a transaction on it costs the same however many rows it has. Any number of threads may
  * read it and any number of transactions may start from it; nobody waits and nobody copies. The
  * garbage collector takes back what no version, transaction or cursor in use holds.
  */
final class Version private[table] (
    private[table] val index: HashIndex,
    private[table] val ordered: Option[OrderedIndex],
    private[table] val pages: RowPages,
    private[table] val tail: TailPage,
    private[table] val id: Long,
    private[table] val parentId: Long,
    private[table] val replacedBytes: Long)
    extends Rows {

  override def keyCount: Long = index.keyCount

  override def liveBytes: Long = pages.liveBytes

  override def heldBytes: Long = pages.heldBytes + RowPages.tableBytes(pages) + index.bytes +
    ordered.fold(0L)(_.bytes)

  override def find(key: Array[Byte], keyOffset: Int, keyLength: Int): Long = {
    val hash = Bytes.hash(key, keyOffset, keyLength)
    val bucket = index.bucket(hash)
    val position = Bucket.find(bucket, hash, key, keyOffset, keyLength, pages.pages)
    if (position < 0) Rows.Absent else bucket(position)
  }

  override def page(row: Long): Array[Byte] = RowPages.page(pages.pages, Slot.page(row))

  override def cursor(): RowCursor = new PageCursor(index, pages.pages, pages.end)

  override def scan(from: Option[Array[Long]], until: Option[Array[Long]]): RowCursor =
    new OrderedCursor(ordered.getOrElse(throw Rows.notOrdered), index, pages.pages, from, until)

  /** Starts a transaction whose result, if it commits, is the next version. O(1).
    *
    * @param memory
    *   is told how large the transaction becomes, and may refuse
    */
  def open(memory: MemoryUse = MemoryUse.Unlimited): Transaction = new Transaction(this, memory)
}

object Version {

  /** The version without rows: version 0 of every state store that is not scanned. */
  val empty: Version = empty(None)

  /** The version without rows of a store that is scanned in an order, if one is given. */
  def empty(order: Option[RowOrder]): Version = {
    val ordered = order.map(OrderedIndex.empty)
    new Version(HashIndex.empty, ordered, RowPages.empty, TailPage.none, Stamps.next(), 0L, 0L)
  }

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
