package io.holdfast.table

/** Changes to a [[Version]] that become the next version when [[commit]] is called, or nothing.
  *
  * It copies what it changes, a bucket or a segment at a time, and nothing else; the version it
  * started from stays as it is. Any number of transactions may be open on one version.
  *
  * Threads may take turns: each call waits for one that is under way in another thread. A call that
  * fails, for want of memory for example, leaves a transaction that can only be aborted: it never
  * commits half of a change.
  *
  * @param memory
  *   is told whenever the transaction needs more of the heap
  * @param eventTime
  *   where the time of the rows of the first table lies, if it is known
  * @param early
  *   is told of rows before the changes are, if somebody is
  * @param isLoad
  *   whether it puts each key once, as many as there may be
  */
final class Transaction private[table] (
    base: Version,
    memory: MemoryUse,
    eventTime: Option[EventTime],
    early: Option[EarlyRows],
    isLoad: Boolean)
    extends Tables {
  import Transaction._

  private[table] val turns = new OneAtATime
  private[this] val pages = new RowPagesWriter(base.pages, base.tail, memory)
  private[this] val first = new TableWriter(0, base.tables(0), pages, memory, this)
  private[this] val tables = new TableWriters(base.tables, first)
  private[this] val columnFamilies = new FamiliesWriter(base.families, tables, newWriter)
  private[this] var heldByPages = pages.held
  private[this] var relocated = 0L
  private[this] var compacting = 0L
  private[this] var compacted = false
  private[this] var reclaiming = false
  private[this] var ended = false
  // Why it takes no changes any more, or null.
  private[this] var closed: String = null
  private[this] var failure: Throwable = null

  eventTime.foreach(first.keepTimes)
  early.foreach(pages.tellEarly)
  pages.beforeEachPage(() => beforePage())

  /** A table of the store, to look at and to change. One that the base does not have is empty.
    *
    * @param number
    *   0 for the first table, whose rows are those of the transaction itself
    * @param order
    *   in which a table that the base does not have is scanned, if it is
    * @param eventTime
    *   where the time of its rows lies, if it is known; see [[Version.open]]
    */
  def table(
      number: Int,
      order: Option[RowOrder] = None,
      eventTime: Option[EventTime] = None): TableWriter =
    alone {
      val known = writer(number, order)
      eventTime.foreach(known.keepTimes)
      known
    }

  override def families: Families = columnFamilies.families

  override def keyCount(family: Family): Long = alone(tables.keyCount(family.keyTable))

  /** Defines a column family, or the one with its id in another way. Where that one has no rows, and its
    * keys, or their number of values, are others, it is removed, and this is a new one with its id.
    *
    * @param keepsKeys
    *   whether keys are what they were, also where their schema says it in other words
    * @throws IllegalArgumentException
    *   if its name is that of another, or more than schemas differs though it has rows or the id 0
    * @throws IllegalStateException
    *   if the transaction has ended, or failed before
    */
  def define(family: Family, keepsKeys: Boolean = false): Unit = alone {
    checkOpen()
    columnFamilies.define(family, keepsKeys)
  }

  /** Removes a column family and all of its rows. O(rows of the family).
    *
    * @throws IllegalArgumentException
    *   if it is the one with the id 0, which every store has
    * @throws IllegalStateException
    *   if the transaction has ended, or failed before
    */
  def remove(family: Family): Unit = alone {
    checkOpen()
    columnFamilies.remove(family)
  }

  override def keyCount: Long = first.keyCount

  override def liveBytes: Long = alone {
    tables.foreach(_.applied(): Unit)
    pages.live
  }

  override def heldBytes: Long = alone {
    tables.foreach(_.applied(): Unit)
    allBytes
  }

  /** Number of keys that differ from the base version: what the delta will have records of. */
  def changeCount: Long = alone {
    var count = 0L
    tables.foreach(writer => count += writer.applied().changeCount)
    count
  }

  /** Heap bytes that the transaction uses beside those of its base version. */
  def ownBytes: Long = alone(ownBytesNow)

  /** Bytes of unchanged rows that were moved to free sparse pages. */
  def relocatedBytes: Long = relocated

  /** Time spent on giving memory back, in nanoseconds. */
  def compactionNanos: Long = compacting

  override def find(key: Array[Byte], keyOffset: Int, keyLength: Int): Long =
    first.find(key, keyOffset, keyLength)

  override def page(row: Long): Array[Byte] = first.page(row)

  override private[holdfast] def fetch(hashes: Array[Long], count: Int): Long =
    first.fetch(hashes, count)

  override def moment(): RowsOfMoment = first.moment()

  override def cursor(memory: MemoryUse): RowCursor = first.cursor(memory)

  override def cursorUpTo(
      eventTime: EventTime,
      threshold: Long,
      memory: MemoryUse): EvictionCursor =
    first.cursorUpTo(eventTime, threshold, memory)

  override def scan(from: Option[Array[Long]], until: Option[Array[Long]]): ScanCursor =
    first.scan(from, until)

  /** Gives a key of the first table a value, as [[TableWriter.put]] does. */
  def put(
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int): Unit =
    first.put(key, keyOffset, keyLength, value, valueOffset, valueLength)

  /** Removes a key of the first table, as [[TableWriter.remove]] does. */
  def remove(key: Array[Byte], keyOffset: Int, keyLength: Int): Unit =
    first.remove(key, keyOffset, keyLength)

  /** Gives out what has changed, all of it: afterwards the transaction can only be read, committed or
    * aborted. It is to be called before [[compact]].
    *
    * @return
    *   what any thread may tell while this one commits; to be let go when the transaction has ended
    * @throws IllegalStateException
    *   if the transaction has ended, or failed before
    */
  def changes(): Changes = alone {
    checkNotEnded()
    if (compacted) {
      throw new IllegalStateException("the changes of a transaction cannot be told after compact")
    }
    val removed = Array.newBuilder[RemovedKeys]
    var count = 0L
    tables.foreach { writer =>
      val indexes = writer.applied()
      removed += indexes.removedKeys
      count += indexes.changeCount
    }
    pages.freeze()
    closed = ChangesAreOut
    new Changes(
      pages.table,
      pages.written().copy,
      pages.writtenEarly,
      removed.result(),
      columnFamilies.changes,
      count)
  }

  /** Gives back the memory of rows that were overwritten or removed so far.
    *
    * [[commit]] does it too; a transaction that replays many batches does it between them. Changes
    * cannot be told apart from moved rows afterwards, so [[changes]] is not to be called.
    */
  def compact(): Unit = alone {
    checkOpen()
    compactNow()
    memory.holds(ownBytesNow)
  }

  /** Ends the transaction and makes its result the next version.
    *
    * @throws IllegalStateException
    *   if the transaction has ended, or failed before
    */
  def commit(): Version = alone {
    checkNotEnded()
    compactNow()
    val version = new Version(
      tables.snapshot(),
      pages.snapshot(),
      pages.lastTail,
      families,
      Stamps.next(),
      base.id,
      replacedBytes,
      ownBytesNow)
    end()
    version
  }

  /** Says that this thread, which was alone so far, has begun the transaction for whichever thread comes
    * next: that one may give back pages ([[reclaim]]), as this one could. It is to read no more of the rows
    * that it has found.
    */
  def handOver(): Unit = turns.handOver()

  /** Fails with the error of a change that failed between two calls: from here on as if in one. */
  def fail(e: Throwable): Nothing = {
    turns.enter()
    try failed(e)
    finally leave()
  }

  /** Ends the transaction without a result. The base version is as it was. Idempotent. */
  def abort(): Unit = {
    turns.enter()
    try
      if (!ended) end()
    finally leave()
  }

  // For the tables: every call is between the two.

  private[table] def enter(): Unit = {
    turns.enter()
    if (failure != null) {
      turns.leave()
      throw failedBefore()
    }
  }

  private[table] def leave(): Unit = turns.leave()

  private[table] def checkOpen(): Unit = if (closed != null) throw new IllegalStateException(closed)

  /** Takes notice of a call that failed in the middle, and fails with its error. */
  private[table] def failed(e: Throwable): Nothing = {
    if (!ended && failure == null) failure = e
    throw e
  }

  /** Tells how much is in use if another page was taken. */
  private[table] def grew(): Unit =
    if (pages.held != heldByPages) tellHeld()

  /** Tells how much is in use. */
  private[table] def tellHeld(): Unit = {
    heldByPages = pages.held
    memory.holds(ownBytesNow)
  }

  private[this] def checkNotEnded(): Unit = if (ended) throw new IllegalStateException(closed)

  private[this] def end(): Unit = {
    ended = true
    closed = HasEnded
    pages.close()
  }

  private[this] def alone[A](body: => A): A = {
    enter()
    try body
    catch { case e: Throwable => failed(e) }
    finally leave()
  }

  private[this] def writer(number: Int, order: Option[RowOrder]): TableWriter =
    tables.of(number, order, newWriter)

  private[this] def newWriter(number: Int, from: Table): TableWriter =
    new TableWriter(number, from, pages, memory, this)

  private[this] def compactNow(): Unit = {
    val start = System.nanoTime()
    compacted = true
    tables.foreach(_.prepareToMove())
    relocated += Compaction.run(pages, indexOf)
    compacting += System.nanoTime() - start
  }

  // Before another page is taken. What the transaction has replaced of its own rows goes before that is
  // more than what is left; after the first compaction, that does it.
  private[this] def beforePage(): Unit =
    if (!compacted && !reclaiming) {
      if (pages.ownAreWasteful) reclaim(OwnPages.SlackBytes / 2)
      else if (!isLoad && pages.ownHeld > MostNewBytes) tables.foreach(_.applied(): Unit)
    }

  /** Gives back pages with rows that this transaction wrote and replaced. Another thread may have found a
    * row and not have read it yet: then all stay.
    */
  private[table] def reclaim(slack: Long): Unit = if (!turns.isShared) {
    reclaiming = true
    tables.foreach(_.prepareToMoveOwn())
    Compaction.runOnOwn(pages, indexOf, slack)
    reclaiming = false
    tellHeld()
  }

  // Rows of tables that were not changed move too. An attempt at this version that was given up may have
  // left rows of tables that the store does not have.
  private[this] val indexOf: Int => TableIndexWriter = number => {
    val writer = tables.existing(number, newWriter)
    if (writer == null) null else writer.applied()
  }

  private[this] def ownBytesNow: Long = math.max(0L, allBytes - base.heldBytes + replacedBytes)

  private[this] def allBytes: Long =
    pages.bytes + (if (tables.end == 1) first.bytes else tables.bytes)

  // Bytes of the base version that are no part of the result.
  private[this] def replacedBytes: Long = pages.freed + tables.replacedBytes

  private[this] def failedBefore(): IllegalStateException =
    new IllegalStateException(
      s"this transaction failed before and can only be aborted: $failure",
      failure)
}

private[table] object Transaction {

  // Rows of a table that had none are only collected, and nobody sees that they replace each other. When
  // pages hold so much, somebody looks.
  val MostNewBytes: Long = 16L << 20

  private val HasEnded =
    "this transaction has been committed or aborted; open another one on a version"

  private val ChangesAreOut =
    "this transaction has given out its changes and takes no more; commit or abort it"
}
