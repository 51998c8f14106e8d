package io.holdfast.snapshots

import javax.annotation.concurrent.GuardedBy

import io.holdfast.checkpoint.{ChainSize, StateFileListing, VersionId}

/** What a provider knows of its folder without listing it: what it has written since it last looked.
  *
  * It may know too little, and then says so or says that it pays to look; what others write into the
  * folder is seen by the next look. Any thread may call.
  */
final private[holdfast] class FolderKnowledge {
  @GuardedBy("this") private var head = Option.empty[(VersionId, ChainSize)]
  // Snapshots that no cleanup has looked at; nothing is known before the first listing.
  @GuardedBy("this") private var newSnapshots = Option.empty[Set[Long]]

  /** The files that lead to a version, if they are known. */
  def chainTo(version: VersionId): Option[ChainSize] = synchronized {
    head.collect { case (`version`, chain) => chain }
  }

  /** Says which files lead to a version. */
  def chain(version: VersionId, chain: ChainSize): Unit = synchronized {
    head = Some(version -> chain)
  }

  /** Says that a delta was written on top of the version before. */
  def delta(version: VersionId, bytes: Long): Unit = synchronized {
    head = head.collect {
      case (base, chain) if base.isBaseOf(version) => version -> chain.followedBy(bytes)
    }
  }

  /** Says that a snapshot was written. */
  def snapshot(version: VersionId, bytes: Long): Unit = synchronized {
    newSnapshots = newSnapshots.map(_ + version.number)
    if (head.forall(_._1 == version)) head = Some(version -> ChainSize(Some(bytes), 0, 0L))
  }

  /** Says what a listing shows that is looked at to delete what no version from `promised` needs. */
  def snapshots(listing: StateFileListing, promised: Long): Unit = synchronized {
    newSnapshots = Some(listing.snapshotNumbers.filter(_ > promised))
  }

  /** Whether a cleanup may find files that no version from `promised` on needs: there is a newer
    * snapshot for it to start from than there was at the last one.
    */
  def mayBeObsoleteBefore(promised: Long): Boolean = synchronized {
    newSnapshots.forall(_.exists(_ <= promised))
  }
}
