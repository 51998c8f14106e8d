package io.holdfast.table

import scala.collection.mutable

/** What versions that were newest once hold beside the newest one, without a look at what they share.
  *
  * A version holds beside its successors what these have replaced, and every commit knows how much
  * that is. So it is a sum over the commits since, also when the versions between have gone; where the
  * history goes back to an older version (another attempt at a batch), what was added since that one
  * counts as well. It is never too little for versions of one line, and at most what the version
  * holds alone. Any thread may call, one at a time.
  */
final class VersionHistory {
  private[this] val marks = mutable.LongMap.empty[VersionHistory.Mark]
  private[this] var newest = Option.empty[Version]
  // Bytes that were replaced and added by all versions so far.
  private[this] var replaced = 0L
  private[this] var added = 0L

  /** Says that a version is the newest one now. */
  def append(version: Version): Unit = {
    replaced += (marks.get(version.parentId) match {
      case Some(parent) => version.replacedBytes + (added - parent.added)
      // It shares nothing with those before it.
      case None => newest.fold(0L)(_.heldBytes)
    })
    added += version.addedBytes
    marks.update(version.id, VersionHistory.Mark(replaced, added))
    newest = Some(version)
  }

  /** Heap bytes that a version holds and the newest one does not: all of its own if it never was the
    * newest.
    */
  def bytesBesideNewest(version: Version): Long =
    marks.get(version.id).fold(version.heldBytes) { mark =>
      math.min(version.heldBytes, replaced - mark.replaced)
    }

  /** Number of versions that are remembered. */
  def size: Int = marks.size

  /** Forgets all versions but these and the newest. */
  def retain(versions: Iterable[Version]): Unit = {
    val kept = (versions ++ newest).map(_.id).toSet
    marks.keysIterator.filterNot(kept(_)).toArray.foreach(marks -= _)
    ()
  }
}

private object VersionHistory {

  /** The sums when a version was appended. */
  final case class Mark(replaced: Long, added: Long)
}
