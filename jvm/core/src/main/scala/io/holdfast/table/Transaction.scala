package io.holdfast.table

/** Changes to a [[Version]] that become the next version when [[commit]] is called, or nothing.
  *
  * For one thread. It copies what it changes, a bucket or a segment at a time, and nothing else; the
  * version it started from stays as it is. Any number of transactions may be open on one version.
  * Hot path: `find`, `put` and `remove` allocate only when they copy a piece for the first time.
  *
  * @param memory
  *   is told whenever a `put` has made the transaction larger
  */
final class Transaction private[table] (base: Version, memory: MemoryUse) extends Rows {
  private[this] val index = new HashIndexWriter(base.index)
  // Null in stores that are not scanned: `put` and `remove` ask for every row.
  private[this] val ordered = base.ordered.map(new OrderedIndexWriter(_)).orNull
  private[this] val pages = new RowPagesWriter(base.pages, base.tail)
  private[this] val nextRow = new NextRow(pages)
  private[this] val pending = new PendingChanges
  // Null once the index is in use.
  private[this] var newRows =
    if (base.index.keyCount == 0L && ordered == null) new NewRows else null
  private[this] var removed = new RemovedKeys
  private[this] var heldByPages = pages.held
  private[this] var putCount = 0L
  private[this] var relocated = 0L
  private[this] var compacting = 0L
  private[this] var compacted = false
  private[this] var ended = false

  override def keyCount: Long = {
    applyPending()
    index.count
  }

  override def liveBytes: Long = {
    applyPending()
    pages.liveTotal
  }

  override def heldBytes: Long = {
    applyPending()
    allBytes
  }

  /** Number of keys that differ from the base version: what the delta will have records of. */
  def changeCount: Long = {
    applyPending()
    putCount + removed.count
  }

  /** Heap bytes that the transaction uses beside those of its base version. */
  def ownBytes: Long = math.max(0L, allBytes - base.heldBytes + replacedBytes)

  /** Bytes of unchanged rows that were moved to free sparse pages. */
  def relocatedBytes: Long = relocated

  /** Time spent on giving memory back, in nanoseconds. */
  def compactionNanos: Long = compacting

  override def find(key: Array[Byte], keyOffset: Int, keyLength: Int): Long = {
    applyPending()
    val next = nextRow.find(key, keyOffset, keyLength)
    if (next != Rows.Absent) next else findInIndex(key, keyOffset, keyLength)
  }

  override def page(row: Long): Array[Byte] = pages.page(Slot.page(row))

  override def cursor(): RowCursor = {
    applyPending()
    pages.freeze()
    new PageCursor(index.snapshot(), pages.table, pages.pageEnd)
  }

  override def scan(from: Option[Array[Long]], until: Option[Array[Long]]): RowCursor = {
    if (ordered == null) throw Rows.notOrdered
    applyPending()
    pages.freeze()
    new OrderedCursor(ordered.snapshot(), index.snapshot(), pages.table, from, until)
  }

  /** Gives a key a value. The bytes are copied.
    *
    * @throws IllegalArgumentException
    *   if the key or the value is too long for a row
    * @throws IllegalStateException
    *   if the transaction has ended
    * @throws java.lang.RuntimeException
    *   if the [[MemoryUse]] refuses the growth; the transaction is to be aborted then
    */
  def put(
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int): Unit = {
    if (keyLength > RowRecord.MaxKeyBytes || valueLength > RowRecord.MaxValueBytes) {
      throw Transaction.rowTooLong(keyLength, valueLength)
    }
    checkOpen()
    if (pending.isFull) applyPending()
    val row = pages.append(key, keyOffset, keyLength, value, valueOffset, valueLength)
    val hash = Bytes.hash(key, keyOffset, keyLength)
    if (newRows != null) newRows.add(Slot.tag(hash) | row) else pending.put(hash, row)
    if (pages.held != heldByPages) grew()
  }

  /** Removes a key, if it is there.
    *
    * @throws IllegalStateException
    *   if the transaction has ended
    */
  def remove(key: Array[Byte], keyOffset: Int, keyLength: Int): Unit = {
    checkOpen()
    if (newRows != null) indexNewRows()
    val hash = Bytes.hash(key, keyOffset, keyLength)
    if (keyLength > PendingChanges.MaxKeyBytes) {
      applyPending()
      applyRemoval(hash, key, keyOffset, keyLength, seen = -1)
    } else {
      if (pending.isFull) applyPending()
      pending.remove(hash, key, keyOffset, keyLength)
    }
  }

  /** Tells a visitor the last change of every key that differs from the base version: first the
    * removals, then the puts. May be called while the transaction is open and not compacted.
    */
  def foreachChange(visitor: ChangeVisitor): Unit = {
    checkOpen()
    applyPending()
    if (compacted) {
      throw new IllegalStateException("the changes of a transaction cannot be told after compact")
    }
    visitRemovals(visitor)
    val regions = pages.written()
    var region = 0
    while (region < regions.size) {
      visitPuts(
        visitor,
        pages.page(regions.page(region)),
        regions.start(region),
        regions.end(region))
      region += 1
    }
  }

  /** Gives back the memory of rows that were overwritten or removed so far.
    *
    * [[commit]] does it too; a transaction that replays many batches does it between them. Changes
    * cannot be told apart from moved rows afterwards, so [[foreachChange]] is not to be called.
    */
  def compact(): Unit = {
    checkOpen()
    applyPending()
    compacted = true
    // They point at rows whose pages may go now, and nobody asks for the changes any more.
    removed = new RemovedKeys
    nextRow.forget()
    val start = System.nanoTime()
    relocated += Compaction.run(pages, index)
    compacting += System.nanoTime() - start
  }

  /** Ends the transaction and makes its result the next version.
    *
    * @throws IllegalStateException
    *   if the transaction has ended
    */
  def commit(): Version = {
    checkOpen()
    compact()
    ended = true
    val tail = pages.lastTail
    val table = pages.snapshot()
    val tree = Option(ordered).map(_.snapshot())
    val version =
      new Version(index.snapshot(), tree, table, tail, Stamps.next(), base.id, replacedBytes)
    pages.close()
    version
  }

  /** Ends the transaction without a result. The base version is as it was. Idempotent. */
  def abort(): Unit =
    if (!ended) {
      ended = true
      pages.close()
    }

  // Bytes of the base version that are no part of the result.
  private[this] def replacedBytes: Long =
    pages.freed + index.replaced + (if (ordered == null) 0L else ordered.replaced)

  private[this] def allBytes: Long = pages.held + index.indexBytes +
    (if (ordered == null) 0L else ordered.indexBytes) + (if (newRows == null) 0L else newRows.bytes)

  private[this] def findInIndex(key: Array[Byte], keyOffset: Int, keyLength: Int): Long = {
    val hash = Bytes.hash(key, keyOffset, keyLength)
    val bucket = index.bucket(hash)
    val position = Bucket.find(bucket, hash, key, keyOffset, keyLength, pages.table)
    if (position < 0) Rows.Absent
    else {
      nextRow.found(bucket(position))
      bucket(position)
    }
  }

  private[this] def indexNewRows(): Unit = {
    putCount += newRows.count
    index.fill(newRows, pages.table, slot => supersede(slot): Unit)
    newRows = null
  }

  private[this] def applyPending(): Unit = {
    if (newRows != null && newRows.count > 0L) indexNewRows()
    if (pending.count != 0) {
      pending.fetch(index, pages)
      var i = 0
      while (i < pending.count) {
        val row = pending.row(i)
        if (row != Slot.Empty) applyPut(pending.hash(i), row, pending.position(i))
        else {
          val start = pending.keyStart(i)
          val length = pending.keyEnd(i) - start
          applyRemoval(pending.hash(i), pending.removedKeys, start, length, pending.position(i))
        }
        i += 1
      }
      pending.clear()
    }
  }

  private[this] def applyPut(hash: Long, row: Long, seen: Int): Unit = {
    val page = pages.page(Slot.page(row))
    val offset = Slot.offset(row)
    val key = RowRecord.keyOffset(offset)
    val keyLength = RowRecord.keyLength(page, offset)
    val found = index.bucket(hash)
    val position = Bucket.findAgain(found, seen, hash, page, key, keyLength, pages.table)
    val slot = Slot.tag(hash) | row
    val replacesBase =
      if (position < 0) {
        index.insert(hash, slot)
        if (ordered != null) ordered.insert(page, key, keyLength, hash)
        removed.cancel(hash, page, key, keyLength, pages.table)
      } else {
        val old = found(position)
        index.writable(found, hash)(position) = slot
        supersede(old)
      }
    if (replacesBase) RowRecord.setFlag(page, offset, RowRecord.ReplacesBase)
    putCount += 1
  }

  private[this] def applyRemoval(
      hash: Long,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      seen: Int): Unit = {
    val found = index.bucket(hash)
    val position = Bucket.findAgain(found, seen, hash, key, keyOffset, keyLength, pages.table)
    if (position >= 0) {
      val old = found(position)
      index.removeAt(found, hash, position)
      if (ordered != null) {
        ordered.remove(key, keyOffset, keyLength, hash, index.bucket(hash), pages.table)
      }
      if (supersede(old)) removed.add(old)
    }
  }

  private[this] def grew(): Unit = {
    heldByPages = pages.held
    memory.grewTo(ownBytes)
  }

  // Marks a row that got a new value or was removed, and says whether its key has a row in the base.
  private[this] def supersede(old: Long): Boolean = {
    pages.release(old)
    if (pages.wrote(old)) {
      val page = pages.page(Slot.page(old))
      val offset = Slot.offset(old)
      RowRecord.setFlag(page, offset, RowRecord.Superseded)
      putCount -= 1
      RowRecord.hasFlag(page, offset, RowRecord.ReplacesBase)
    } else true
  }

  private[this] def visitRemovals(visitor: ChangeVisitor): Unit = {
    var i = 0
    while (i < removed.size) {
      val slot = removed.at(i)
      if (slot != Slot.Empty) visitor.remove(page(slot), Slot.offset(slot))
      i += 1
    }
  }

  private[this] def visitPuts(
      visitor: ChangeVisitor,
      page: Array[Byte],
      start: Int,
      end: Int): Unit = {
    var offset = start
    while (offset < end) {
      if (!RowRecord.hasFlag(page, offset, RowRecord.Superseded)) visitor.put(page, offset)
      offset += RowRecord.sizeAt(page, offset)
    }
  }

  private[this] def checkOpen(): Unit =
    if (ended) {
      throw new IllegalStateException(
        "this transaction has been committed or aborted; open another one on a version")
    }
}

private[table] object Transaction {
  private def rowTooLong(keyLength: Int, valueLength: Int): IllegalArgumentException =
    new IllegalArgumentException(
      s"a row with a key of $keyLength and a value of $valueLength bytes does not fit into the " +
        s"state store: keys have at most ${RowRecord.MaxKeyBytes} and values at most " +
        s"${RowRecord.MaxValueBytes} bytes; keep less state in one row")
}
