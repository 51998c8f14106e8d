package io.holdfast.table

import scala.collection.mutable

/** What the eviction walk of a transaction has found in the pages that it read, so that a page whose
  * expired rows have all been removed is known for what is left in it.
  *
  * The walk and the transaction may be in different threads: the walk waits for its turn.
  */
private[table] final class WalkedPages(turns: OneAtATime) {
  import WalkedPages._

  private[this] val pages = mutable.LongMap.empty[Page]

  /** Says that the walk begins to read a page. */
  def begin(id: Int, end: Int, threshold: Long): Page = {
    val page = new Page(end, threshold)
    inTurn(pages.update(id.toLong, page))
    page
  }

  /** Says that so many rows of a page that have expired are shown now. */
  def shown(page: Page, rows: Int): Unit = inTurn(page.expired += rows)

  /** Says that the walk has read all of a page.
    *
    * @param rest
    *   no row that it did not show is before this time
    */
  def done(page: Page, rest: Long): Unit = inTurn {
    page.rest = rest
    page.isDone = true
  }

  // For the transaction, which has entered.

  /** Says that a row is no part of the result any more. */
  def released(id: Int, offset: Int, time: Long): Unit = {
    val page = pages.getOrNull(id.toLong)
    if (page != null && offset < page.end && time <= page.threshold) page.expired -= 1
  }

  /** Tells of each page that was read whole and has none of its expired rows left where the records end
    * that were read, and that no row before there is before a time.
    */
  def foreachCleared(use: (Int, Int, Long) => Unit): Unit =
    pages.foreachKey { id =>
      val page = pages(id)
      // Zero says nothing of a page that is still being read.
      if (page.isDone && page.expired == 0) use(id.toInt, page.end, page.rest)
    }

  private[this] def inTurn(change: => Unit): Unit = {
    turns.enter()
    try change
    finally turns.leave()
  }
}

private[table] object WalkedPages {

  /** A page, as far as the walk goes in it.
    *
    * Rows that expired are counted up when they are shown and down when they are given up. The walk shows
    * the rows of its moment, also one that was given up since: then it is counted down first, and the
    * count may be zero or below while rows are left. But only rows of that moment lie before `end`, so
    * when the page has been read whole each that was counted down was counted up too, and zero means
    * that all of them are gone. Those that were given up before the walk began to read the page are
    * missed: the count stays above zero then, and the page is looked at once more.
    */
  final class Page(val end: Int, val threshold: Long) {
    private[WalkedPages] var expired = 0
    private[WalkedPages] var rest = EventTime.Never
    private[WalkedPages] var isDone = false
  }
}
