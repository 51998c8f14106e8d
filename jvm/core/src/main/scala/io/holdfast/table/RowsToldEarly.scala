package io.holdfast.table

/** Which of the rows that a transaction has written were told before it ended: those of the first parts
  * of pages, or none any more. For one thread.
  *
  * @param regions
  *   the parts of pages that the transaction writes, in the order of writing
  */
private[table] final class RowsToldEarly(regions: RegionList) {
  private[this] var listener: EarlyRows = null
  private[this] var told = 0
  private[this] var isVoid = false

  /** Tells somebody of rows from now on; nothing was written yet. */
  def tell(to: EarlyRows): Unit = listener = to

  /** How many parts were told, the first ones; none if what was told of one is wrong by now. They are
    * counted without a listener as well, so that the order of changes never depends on there being one.
    */
  def count: Int = told

  /** Takes notice that nothing more is written into the parts that there are. */
  def filled(table: PageTable): Unit =
    while (!isVoid && told < regions.size) {
      if (listener != null) listener.filled(regions.rows(told, table))
      told += 1
    }

  /** Takes notice that a row which may have been told was replaced or removed. */
  def void(): Unit = if (!isVoid) {
    isVoid = true
    told = 0
    if (listener != null) listener.void()
  }
}
