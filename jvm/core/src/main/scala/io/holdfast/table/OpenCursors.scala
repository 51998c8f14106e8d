package io.holdfast.table

/** The walks over a table of a transaction, and moments of it, that its changes have to leave alone.
  *
  * A walk shows the rows of the moment in which it was opened, so what it reads must not change in
  * place any more. But most walks are at their end before the next change: then nothing is frozen
  * and nothing is copied once more. So it is at the first change that it is decided. For one thread.
  */
private[table] final class OpenCursors {
  import OpenCursors._

  private[this] var cursors = NoCursors
  private[this] var count = 0

  def isEmpty: Boolean = count == 0

  /** Takes a cursor in.
    *
    * @return
    *   whether there are so many now that they should be dealt with
    */
  def add(cursor: TableWalk): Boolean = {
    if (count > 0) dropFinished()
    if (count == cursors.length) {
      cursors = java.util.Arrays.copyOf(cursors, math.max(4, 2 * count))
    }
    cursors(count) = cursor
    count += 1
    count >= Many
  }

  /** Forgets all cursors.
    *
    * @return
    *   whether one of them has not come to its end
    */
  def forget(): Boolean = {
    dropFinished()
    val some = count > 0
    java.util.Arrays.fill(cursors.asInstanceOf[Array[AnyRef]], 0, count, null)
    count = 0
    some
  }

  private[this] def dropFinished(): Unit = {
    var kept = 0
    var i = 0
    while (i < count) {
      if (!cursors(i).isFinished) {
        cursors(kept) = cursors(i)
        kept += 1
      }
      i += 1
    }
    java.util.Arrays.fill(cursors.asInstanceOf[Array[AnyRef]], kept, count, null)
    count = kept
  }
}

private object OpenCursors {
  private val NoCursors = new Array[TableWalk](0)

  // Readers that never come to an end must not be looked through again and again.
  private val Many = 16
}
