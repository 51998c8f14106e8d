package io.holdfast.table

/** Makes the next indexes of a table out of those of its base, change by change, and knows what
  * changed: the hash index, the ordered one of a table that is scanned, and the removed keys.
  *
  * For one thread; everybody but the [[ChangeBuffer]] in front of it looks only.
  *
  * @param number
  *   of the table
  * @param turns
  *   of the transaction
  */
private[table] final class TableIndexWriter(
    number: Int,
    base: Table,
    pages: RowPagesWriter,
    memory: MemoryUse,
    turns: OneAtATime) {
  private[this] val index = new HashIndexWriter(base.index, memory)
  // Null in tables that are not scanned, or have not been so far: `put` and `remove` ask for every row.
  private[this] var ordered = base.ordered.map(new OrderedIndexWriter(_, memory)).orNull
  private[this] var removed = new RemovedKeys(memory)
  private[this] var putCount = 0L
  // Whether rows of the base may lie elsewhere than the base says.
  private[this] var baseHasMoved = false

  // Null as long as nobody has said where the time of a row lies.
  private[this] var times: PageTimesWriter = null
  // What the last eviction walk finds; null if there was none since rows moved.
  private[this] var walked: WalkedPages = null
  base.times.foreach(known => useTimes(PageTimesWriter.of(known, memory)))

  def keyCount: Long = index.count

  def isOrdered: Boolean = ordered != null

  /** Number of keys that differ from the base. */
  def changeCount: Long = putCount + removed.count

  /** Heap bytes of the indexes and of what is known of changes. */
  def bytes: Long =
    index.indexBytes + removed.bytes + (if (ordered == null) 0L else ordered.indexBytes) +
      (if (times == null) 0L else times.bytes)

  /** Heap bytes of the base's indexes that are no part of these any more. */
  def replacedBytes: Long = index.replaced + (if (base.ordered.isEmpty) 0L else ordered.replaced)

  /** The bucket of a hash, for reading. */
  def bucket(hash: Long): Array[Long] = index.bucket(hash)

  /** Reads the buckets of some hashes, so that they are in the processor's cache. */
  def fetch(hashes: Array[Long], count: Int): Unit = index.fetch(hashes, count)

  /** As [[RowsByKey.fetch]]. */
  def fetchRows(hashes: Array[Long], count: Int): Long =
    TableMoment.fetch(index.view, pages.table, hashes, count)

  /** Reads the buckets of some hashes and says where in them their rows lie, most likely.
    *
    * @param positions
    *   receives the position in its bucket of a slot that may be the one of the hash's row, or -1
    * @param slots
    *   receives those slots, or [[Slot.Empty]]
    */
  def locate(hashes: Array[Long], count: Int, positions: Array[Int], slots: Array[Long]): Unit = {
    index.fetch(hashes, count)
    var i = 0
    while (i < count) {
      val bucket = index.bucket(hashes(i))
      val position = Bucket.positionWithTag(bucket, hashes(i))
      positions(i) = position
      slots(i) = if (position < 0) Slot.Empty else bucket(position)
      i += 1
    }
  }

  /** Takes in a row that was written.
    *
    * @param seen
    *   where in its bucket [[locate]] saw the row it takes the place of, or -1
    */
  def put(hash: Long, row: Long, seen: Int): Unit = {
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

  /** Takes out the row of a key, if there is one.
    *
    * @param seen
    *   as in [[put]]
    */
  def remove(hash: Long, key: Array[Byte], keyOffset: Int, keyLength: Int, seen: Int): Unit = {
    val found = index.bucket(hash)
    val position = Bucket.findAgain(found, seen, hash, key, keyOffset, keyLength, pages.table)
    if (position >= 0) {
      val old = found(position)
      index.removeAt(found, hash, position)
      if (ordered != null) {
        ordered.remove(key, keyOffset, keyLength, hash, index.bucket(hash), pages.table)
      }
      if (supersede(old)) removed.add(removedFrom(old, hash, key, keyOffset, keyLength))
    }
  }

  /** Takes in all rows of a table that had none. */
  def fill(rows: NewRows): Unit = {
    putCount += rows.count
    index.fill(rows, pages.table, slot => supersede(slot): Unit)
  }

  /** Where in the bucket of its hash the slot of a row lies, or -1 if the row is not of the table.
    *
    * @param slot
    *   points at the row
    */
  def position(hash: Long, slot: Long): Int = Bucket.findAddress(index.bucket(hash), slot)

  /** Says that a row has another address now.
    *
    * @param position
    *   where [[position]] found its slot
    */
  def move(hash: Long, position: Int, to: Long): Unit = {
    index.writable(index.bucket(hash), hash)(position) = Slot.tag(hash) | to
    if (times != null) times.lower(Slot.page(to), timeOf(to))
  }

  /** Says where the time of a row lies. What is known by another place is forgotten. */
  def keepTimes(eventTime: EventTime): Unit =
    if (times == null || times.eventTime != eventTime) {
      walked = null
      useTimes(PageTimesWriter.unknown(eventTime, pages.pageEnd, memory))
    }

  /** Takes notice of the time of a row that was written, whose change may come later. */
  def written(
      row: Long,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int): Unit =
    if (times != null) {
      times.lower(
        Slot.page(row),
        times.eventTime.read(key, keyOffset, keyLength, value, valueOffset, valueLength))
    }

  /** Takes over what the last eviction walk has found. No walk that was opened before tells anything
    * afterwards.
    */
  def endWalk(): Unit =
    if (walked != null) {
      walked.foreachCleared((id, end, rest) => times.set(id, math.min(rest, leastBehind(id, end))))
      walked = null
    }

  /** The keys of the base that have no row any more: they change with later changes, and are left alone
    * by [[forgetRemoved]].
    */
  def removedKeys: RemovedKeys = removed

  /** Whether a key that has no row is one that the base has. */
  def wasRemoved(key: Array[Byte], keyOffset: Int, keyLength: Int): Boolean =
    removed.count > 0 && {
      val hash = Bytes.hash(key, keyOffset, keyLength)
      Bucket.find(base.index.bucket(hash), hash, key, keyOffset, keyLength, pages.table) >= 0
    }

  /** Forgets which keys were removed: they are known by rows, whose pages may go now. */
  def forgetRemoved(): Unit = {
    baseHasMoved = true
    if (removed.bytes > 0L) removed = new RemovedKeys(memory)
  }

  /** Marks all rows as no part of the result: the table is given up. */
  def releaseAll(): Unit = index.view.foreachSlot(slot => supersede(slot): Unit)

  /** Makes all that was built so far immutable; later changes copy it. */
  def freeze(): Unit = {
    index.freeze()
    if (ordered != null) ordered.freeze()
    if (times != null) times.freeze()
  }

  /** A walk over all rows, good until the next change or for good if [[freeze]] comes before it. */
  def cursor(walk: MemoryUse): PageCursor =
    new PageCursor(Array(index.view), pages.table, pages.pageEnd, walk)

  /** A walk over the rows up to a time, good as long as [[cursor]] is. The one before it is to be at its
    * end ([[endWalk]]).
    */
  def cursorUpTo(eventTime: EventTime, threshold: Long, walk: MemoryUse): TimedPageCursor = {
    keepTimes(eventTime)
    walked = new WalkedPages(turns)
    new TimedPageCursor(
      index.view,
      pages.table,
      pages.pageEnd,
      number,
      times.view,
      threshold,
      walked,
      walk)
  }

  /** The rows as they are now, good as long as [[cursor]] is. */
  def moment(): TableMoment = new TableMoment(index.view, pages.table)

  /** Makes the order of a table that has one and was not scanned so far.
    *
    * @return
    *   whether it had to be made
    */
  def makeOrder(): Boolean = ordered == null && {
    val order = base.order.getOrElse(throw Rows.notOrdered)
    ordered = OrderedIndexWriter.of(order, cursor(memory), memory)
    true
  }

  /** A walk over a range of the order, which is there, good as long as [[cursor]] is. */
  def scan(from: Option[Array[Long]], until: Option[Array[Long]]): OrderedCursor =
    new OrderedCursor(ordered.view, index.view, pages.table, from, until)

  /** The table that came out of it. The writer may go on afterwards. */
  def snapshot(): Table =
    new Table(
      index.snapshot(),
      base.order,
      Option(ordered).map(_.snapshot()),
      Option(times).map(_.snapshot(pages.pageEnd)))

  // Marks a row that got a new value or was removed, and says whether its key has a row in the base.
  private[this] def supersede(old: Long): Boolean = {
    pages.release(old)
    if (walked != null) walked.released(Slot.page(old), Slot.offset(old), timeOf(old))
    if (pages.wrote(old)) {
      pages.supersede(old)
      putCount -= 1
      RowRecord.hasFlag(pages.page(Slot.page(old)), Slot.offset(old), RowRecord.ReplacesBase)
    } else true
  }

  // The record that tells which key was removed. A row that this transaction wrote goes with its page,
  // and that of the base stays as long as anybody asks.
  private[this] def removedFrom(
      old: Long,
      hash: Long,
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int): Long =
    if (baseHasMoved || !pages.wrote(old)) old
    else {
      val bucket = base.index.bucket(hash)
      bucket(Bucket.find(bucket, hash, key, keyOffset, keyLength, pages.table))
    }

  private[this] def timeOf(row: Long): Long =
    times.eventTime.of(pages.page(Slot.page(row)), Slot.offset(row))

  // The least time of the records that were written behind a place of a page.
  private[this] def leastBehind(id: Int, from: Int): Long = {
    val page = pages.page(id)
    val end = pages.table.end(id)
    var least = EventTime.Never
    var offset = from
    while (offset < end) {
      if (RowRecord.table(page, offset) == number) {
        least = math.min(least, times.eventTime.of(page, offset))
      }
      offset += RowRecord.sizeAt(page, offset)
    }
    least
  }

  private[this] def useTimes(writer: PageTimesWriter): Unit = {
    times = writer
    pages.add(writer)
  }
}
