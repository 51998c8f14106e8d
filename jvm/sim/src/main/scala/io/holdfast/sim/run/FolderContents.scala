package io.holdfast.sim.run

import io.holdfast.sim.disk.SimFileManager

/** The files of a store by their names, as `jvm/FORMAT.md` has them. */
final class FolderContents(paths: Set[String]) {
  import FolderContents.Name

  private[this] val names = paths.map(SimFileManager.nameOf)

  /** Files that are not finished. */
  def temporary: Seq[String] = names.filter(_.endsWith(".tmp")).toSeq.sorted

  /** The oldest version of which a file is needed to load a version in two ways: from the newest
    * snapshot that is not after it, and from the one before that, if there are all deltas between the two.
    *
    * @param id
    *   the id of a committed version
    */
  def firstNeeded(version: Long, id: Long => Option[String]): Long = {
    def has(number: Long, suffix: String) =
      names(s"$number${id(number).fold("")("_" + _)}.$suffix")
    def snapshotAt(from: Long): Long =
      Iterator.iterate(from)(_ - 1).find(number => number <= 0 || has(number, "snapshot")).get
    def deltas(after: Long, to: Long) = (after + 1 to to).forall(has(_, "delta"))
    val nearest = snapshotAt(version)
    val before = if (nearest > 0) snapshotAt(nearest - 1) else 0L
    if (nearest <= 0) 1L
    else if (deltas(before, nearest)) math.max(1L, before)
    else nearest
  }

  /** Finished files of versions below one. */
  def below(version: Long): Seq[String] = names.toSeq.sorted.filter {
    case Name(number) => number.toLong < version
    case _ => false
  }
}

object FolderContents {
  private val Name =
    raw"(\d+)(?:_[0-9a-f]{32}-(?:[0-9a-f]{32}|none))?\.(?:delta|snapshot)(?:\.crc)?".r
}
