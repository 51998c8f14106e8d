package io.holdfast.checkpoint

import org.apache.hadoop.fs.Path

/** The files of checksums in the folder of a store that writes none: a run of the query that had them
  * on has left them.
  *
  * One that stays when another file takes the place of its own says something else than that file, which
  * is refused for good as soon as checksums are on again. Nobody adds any while they are off, since they
  * are on or off for a whole run. So what a listing has shown is all that there is, and who never had
  * checksums asks the file system for nothing.
  *
  * Any thread may call.
  */
final private[checkpoint] class LeftChecksums {
  @volatile private[this] var names = Set.empty[String]

  /** Says what a listing has shown. */
  def listed(checksums: Seq[Path]): Unit = synchronized {
    names = checksums.iterator.map(_.getName).toSet
  }

  /** Says that checksums have been deleted, and need not be again. */
  def deleted(checksums: Path): Unit = synchronized(names -= checksums.getName)

  /** The checksums of a file, if there may be some. */
  def of(file: Path): Option[Path] = {
    val left = names
    if (left.isEmpty) None
    else Some(LeavingFileManager.checksumsOf(file)).filter(checksums => left(checksums.getName))
  }
}
