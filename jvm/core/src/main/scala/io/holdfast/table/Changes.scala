package io.holdfast.table

/** What a transaction has changed, all tables together: what its delta says, its column families
  * first. Immutable, so another
  * thread may tell it while the transaction's own goes on to [[Transaction.commit]].
  */
/* The transaction takes no more changes once it has given them out, so all that still writes is the end
 * of the commit, and of what is read here it writes nothing:
 *   - The page table is frozen. A page that is dropped, and an id that is used again, are so in copies
 *     of the segments.
 *   - Of pages, rows that move are written behind the regions that are listed here, or into pages that
 *     this table does not have; after a commit or an abort the next transaction goes on behind them.
 *     Flags of records change with changes alone, but for one that another attempt may set at any
 *     time and that says nothing to who tells changes. Where rows move from, nothing is written.
 *   - The region list is a copy, and lists of removed keys are forgotten and not changed.
 * So whoever hands it to another thread in a way that shows what came before (an Executor does) need
 * not say anything of what comes after.
 *
 * It holds on to pages that the commit drops. Those are counted as long as the transaction is, which
 * takes notice of what it has given back when it is at its end: it must not be kept for longer.
 */
final class Changes private[table] (
    pages: PageTable,
    written: RegionList,
    removed: Array[RemovedKeys],
    val families: FamilyChanges,
    val count: Long) {
  import Changes._

  // Written so that the reads of `fetch` have a result, and are not left out.
  private[this] var fetched = 0

  /** About how many bytes there are to tell: rows that were written, overwritten ones among them, and
    * keys that were removed.
    */
  def bytes: Long = written.bytes + removed.iterator.map(RemovedBytes * _.count).sum

  /** Tells a visitor the last change of every key that differs from the base version: first the
    * removals, then the puts. Any thread may call; what the visitor throws passes through.
    */
  def foreach(visitor: ChangeVisitor): Unit = {
    removed.foreach(tellRemoved(_, visitor))
    tellWritten(visitor)
  }

  // The records lie anywhere in the pages, so some are read together before they are told.
  private[this] def tellRemoved(keys: RemovedKeys, visitor: ChangeVisitor): Unit = {
    val group = new Array[Long](math.min(RecordGroup.Records, keys.count))
    var told = 0
    while (told < keys.count) {
      val count = math.min(group.length, keys.count - told)
      keys.copy(told, group, count)
      fetched += pages.fetch(group, count)
      var i = 0
      while (i < count) {
        visitor.remove(pages.pageOf(group(i)), Slot.offset(group(i)))
        i += 1
      }
      told += count
    }
  }

  private[this] def tellWritten(visitor: ChangeVisitor): Unit = {
    var region = 0
    while (region < written.size) {
      val page = pages.page(written.page(region))
      val end = written.end(region)
      var offset = written.start(region)
      while (offset < end) {
        if (!RowRecord.hasFlag(page, offset, RowRecord.Superseded)) visitor.put(page, offset)
        offset += RowRecord.sizeAt(page, offset)
      }
      region += 1
    }
  }
}

private object Changes {

  // Of a short key, with what comes of looking for it: it lies anywhere in the pages.
  private val RemovedBytes = 32L
}
