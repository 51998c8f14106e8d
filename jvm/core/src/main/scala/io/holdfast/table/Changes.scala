package io.holdfast.table

/** What a transaction has changed, all tables together: what its delta says, its column families
  * first. Immutable, so another
  * thread may tell it while the transaction's own goes on to [[Transaction.commit]].
  *
  * Each key that differs from the base version is told once: first the rows of pages that were filled
  * ([[EarlyRows]]), if none of them has been replaced or removed since; then the keys that were
  * removed; then the rest of the rows. So the order follows from the changes alone.
  *
  * @param written
  *   where rows were written
  * @param early
  *   how many of those parts come before the removed keys
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
    early: Int,
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

  /** Tells a visitor the last change of every key that differs from the base version. Any thread may
    * call; what the visitor throws passes through.
    */
  def foreach(visitor: ChangeVisitor): Unit = {
    tellWritten(0, early, visitor)
    foreachLate(visitor)
  }

  /** Tells what has not been told early, as [[foreach]] does. */
  def foreachLate(visitor: ChangeVisitor): Unit = {
    removed.foreach(tellRemoved(_, visitor))
    tellWritten(early, written.size, visitor)
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

  private[this] def tellWritten(from: Int, until: Int, visitor: ChangeVisitor): Unit =
    (from until until).foreach(region => written.rows(region, pages).foreach(visitor))
}

private object Changes {

  // Of a short key, with what comes of looking for it: it lies anywhere in the pages.
  private val RemovedBytes = 32L
}
