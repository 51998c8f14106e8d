package io.holdfast.table

/** Decides for which pages an eviction walk reads the times of the rows.
  *
  * Where page after page has expired as a whole, times tell nothing. So after some such pages the next
  * ones are taken for the same, twice as many each time that a look at the one behind them confirms it.
  * A row too many is no mistake, since operators test what they are shown; and no more of them come than
  * rows that were rightly shown before. For one thread.
  */
private[table] final class PagesInARow {
  import PagesInARow._

  private[this] var expired = 0
  private[this] var taken = 0
  private[this] var mayBeTaken = 0

  /** Whether the next page is taken for one that has expired as a whole. */
  def takesNext(): Boolean = taken < mayBeTaken && {
    taken += 1
    true
  }

  /** Takes notice of a page whose times were read.
    *
    * @param asAWhole
    *   whether every row has expired
    */
  def looked(asAWhole: Boolean): Unit = {
    expired = if (asAWhole) math.min(expired + 1, Enough + 1) else 0
    mayBeTaken =
      if (expired < Enough) 0
      else if (expired == Enough) Enough
      else math.min(2 * mayBeTaken, Most)
    taken = 0
  }
}

private object PagesInARow {
  private val Enough = 4

  private val Most = 32
}
