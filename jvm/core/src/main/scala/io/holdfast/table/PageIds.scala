package io.holdfast.table

import scala.collection.immutable.TreeSet

/** The page ids of a version: those below `end` that are not free name a page. Immutable.
  *
  * The smallest free id is given out first, and ids at the end that are given back are forgotten, so
  * that a store that shrank has a small page table again.
  *
  * @param end
  *   one more than the largest id in use; ids begin at 1, because [[Slot.Empty]] names page 0
  * @param free
  *   ids below `end` without a page
  */
private[table] final class PageIds private (val end: Int, val free: TreeSet[Int]) {

  /** Number of pages. */
  def count: Int = end - 1 - free.size

  /** The id that the next page gets. */
  def next: Int = free.headOption.getOrElse(end)

  /** The ids when [[next]] is in use. */
  def withNext: PageIds =
    if (free.isEmpty) new PageIds(end + 1, free) else new PageIds(end, free - free.head)

  /** The ids when one in use has been given back. */
  def without(id: Int): PageIds =
    if (id + 1 < end) new PageIds(end, free + id) else PageIds.withoutFreeEnd(id, free)
}

private[table] object PageIds {
  val none: PageIds = new PageIds(1, TreeSet.empty)

  private def withoutFreeEnd(end: Int, free: TreeSet[Int]): PageIds = {
    var last = end
    var left = free
    while (left.nonEmpty && left.last == last - 1) {
      last -= 1
      left = left - last
    }
    new PageIds(last, left)
  }
}
