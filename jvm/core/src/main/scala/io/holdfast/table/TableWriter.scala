package io.holdfast.table

/** One table of a [[Transaction]]: its rows, with the changes made so far.
  *
  * Threads may take turns: each call waits for one that is under way in another thread, whichever
  * table of the transaction it is about. Hot path: `find`, `put` and `remove` allocate only when they
  * copy a piece for the first time.
  */
final class TableWriter private[table] (
    number: Int,
    base: Table,
    pages: RowPagesWriter,
    memory: MemoryUse,
    transaction: Transaction)
    extends Rows {
  private[this] val indexes = new TableIndexWriter(number, base, pages, memory, transaction.turns)
  private[this] val changes = new ChangeBuffer(indexes, pages, memory)
  private[this] val nextRow = new NextRow(number, pages)
  private[this] val cursors = new OpenCursors
  private[this] var isGivenUp = false

  override def keyCount: Long = {
    transaction.enter()
    try changes.applied().keyCount
    catch { case e: Throwable => transaction.failed(e) }
    finally transaction.leave()
  }

  override def find(key: Array[Byte], keyOffset: Int, keyLength: Int): Long = {
    transaction.enter()
    try {
      val indexes = changes.applied()
      val next = nextRow.find(key, keyOffset, keyLength)
      if (next != Rows.Absent) next else findIn(indexes, key, keyOffset, keyLength)
    } catch { case e: Throwable => transaction.failed(e) }
    finally transaction.leave()
  }

  override def page(row: Long): Array[Byte] = pages.page(Slot.page(row))

  override private[holdfast] def fetch(hashes: Array[Long], count: Int): Long = {
    transaction.enter()
    // What is collected is looked for when it is applied.
    try if (isGivenUp) 0L else indexes.fetchRows(hashes, count)
    catch { case e: Throwable => transaction.failed(e) }
    finally transaction.leave()
  }

  override def cursor(memory: MemoryUse): RowCursor = opened(_.cursor(memory))

  override def cursorUpTo(
      eventTime: EventTime,
      threshold: Long,
      memory: MemoryUse): EvictionCursor =
    opened { current =>
      endWalk()
      current.cursorUpTo(eventTime, threshold, memory)
    }

  override def scan(from: Option[Array[Long]], until: Option[Array[Long]]): ScanCursor = {
    if (base.order.isEmpty) throw Rows.notOrdered
    opened { current =>
      if (changes.makeOrder()) transaction.tellHeld()
      current.scan(from, until)
    }
  }

  override def moment(): RowsOfMoment = opened(_.moment())

  /** Gives a key a value. The bytes are copied.
    *
    * @throws IllegalArgumentException
    *   if the key or the value is too long for a row
    * @throws IllegalStateException
    *   if the transaction has ended, or failed before
    * @throws java.lang.RuntimeException
    *   if the [[MemoryUse]] refuses the growth; the transaction is to be aborted then
    */
  def put(
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int): Unit =
    write(key, keyOffset, keyLength, value, valueOffset, valueLength, flag = 0)

  /** Gives a key a value that says in other columns what the one says that it has: as [[put]], but the
    * delta tells it as no change of anybody's, unless one has been made before.
    */
  def rewrite(
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int): Unit = {
    val row = find(key, keyOffset, keyLength)
    val isChanged = row == Rows.Absent ||
      wrote(row) && !RowRecord.isRewritten(page(row), Rows.offset(row))
    val flag = if (isChanged) 0 else RowRecord.Rewritten
    write(key, keyOffset, keyLength, value, valueOffset, valueLength, flag)
  }

  private def write(
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int,
      flag: Int): Unit = {
    if (keyLength > RowRecord.MaxKeyBytes || valueLength > RowRecord.MaxValueBytes) {
      throw TableWriter.rowTooLong(keyLength, valueLength)
    }
    transaction.enter()
    try {
      transaction.checkOpen()
      if (!cursors.isEmpty) settleCursors()
      val row = pages.append(number, key, keyOffset, keyLength, value, valueOffset, valueLength)
      if (flag != 0) RowRecord.setFlag(page(row), Slot.offset(row), flag)
      indexes.written(row, key, keyOffset, keyLength, value, valueOffset, valueLength)
      changes.put(Bytes.hash(key, keyOffset, keyLength), row)
      transaction.grew()
    } catch { case e: Throwable => transaction.failed(e) }
    finally transaction.leave()
  }

  /** Removes a key, if it is there.
    *
    * @throws IllegalStateException
    *   if the transaction has ended, or failed before
    * @throws java.lang.RuntimeException
    *   if the [[MemoryUse]] refuses the growth; the transaction is to be aborted then
    */
  def remove(key: Array[Byte], keyOffset: Int, keyLength: Int): Unit = {
    transaction.enter()
    try {
      transaction.checkOpen()
      if (!cursors.isEmpty) settleCursors()
      changes.remove(Bytes.hash(key, keyOffset, keyLength), key, keyOffset, keyLength)
    } catch { case e: Throwable => transaction.failed(e) }
    finally transaction.leave()
  }

  /** Whether a key that has no row is one that the version has which the transaction started from. */
  private[table] def wasRemoved(key: Array[Byte], keyOffset: Int, keyLength: Int): Boolean = {
    transaction.enter()
    try changes.applied().wasRemoved(key, keyOffset, keyLength)
    catch { case e: Throwable => transaction.failed(e) }
    finally transaction.leave()
  }

  /** As [[Transaction.fail]]. */
  private[table] def fail(e: Throwable): Nothing = transaction.fail(e)

  /** Whether a row was written by this transaction. */
  private[table] def wrote(row: Long): Boolean = pages.wrote(row)

  // The rest is for the transaction, which has entered.

  /** Says where the time of a row lies. */
  private[table] def keepTimes(eventTime: EventTime): Unit = indexes.keepTimes(eventTime)

  private[table] def bytes: Long = changes.bytes

  private[table] def replacedBytes: Long = changes.replacedBytes

  private[table] def applied(): TableIndexWriter = changes.applied()

  /** Gives up all rows: the table is no part of the result. Nothing else may be asked of it but to
    * [[fetch]], which does nothing.
    */
  private[table] def giveUp(): Unit = {
    settleCursors()
    changes.applied().releaseAll()
    isGivenUp = true
  }

  /** Prepares for rows to move, and with them the places where removed keys are known. */
  private[table] def prepareToMove(): Unit = {
    prepareToMoveOwn()
    changes.applied().forgetRemoved()
  }

  /** Prepares for rows to move that this transaction wrote. */
  private[table] def prepareToMoveOwn(): Unit = {
    settleCursors()
    nextRow.forget()
    changes.applied()
    endWalk()
  }

  private def findIn(
      indexes: TableIndexWriter,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int): Long = {
    val hash = Bytes.hash(key, keyOffset, keyLength)
    val bucket = indexes.bucket(hash)
    val position = Bucket.find(bucket, hash, key, keyOffset, keyLength, pages.table)
    if (position < 0) Rows.Absent
    else {
      nextRow.found(bucket(position))
      bucket(position)
    }
  }

  private def opened[C <: TableWalk](open: TableIndexWriter => C): C = {
    transaction.enter()
    try {
      // What is waiting would be the first change after the cursor, and freeze for its sake.
      val indexes = changes.applied()
      val cursor = open(indexes)
      if (cursors.add(cursor)) settleCursors()
      cursor
    } catch { case e: Throwable => transaction.failed(e) }
    finally transaction.leave()
  }

  // Rows that were removed since the last eviction walk have been applied.
  private def endWalk(): Unit = {
    settleCursors()
    indexes.endWalk()
  }

  // What open cursors read must not change in place any more.
  private def settleCursors(): Unit =
    if (cursors.forget()) {
      changes.applied().freeze()
      pages.freeze()
    }
}

private[table] object TableWriter {
  private[table] def rowTooLong(keyLength: Int, valueLength: Int): IllegalArgumentException =
    new IllegalArgumentException(
      s"a row with a key of $keyLength and a value of $valueLength bytes does not fit into the " +
        s"state store: keys have at most ${RowRecord.MaxKeyBytes} and values at most " +
        s"${RowRecord.MaxValueBytes} bytes; keep less state in one row")
}
