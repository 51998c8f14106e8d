package io.holdfast.snapshots

import javax.annotation.concurrent.GuardedBy

import io.holdfast.checkpoint.{ChainSize, StateFileListing, VersionId}

/** What a provider knows of its folder without listing it: what it has written since it last looked.
  *
  * It may know too little, and then says so or says that it pays to look; what others write into the
  * folder is seen by the next look. Any thread may call; snapshots may be written, and the folder
  * cleaned up, at the same time.
  */
final private[holdfast] class FolderKnowledge {
  @volatile private var current = VersionId(0L, None)
  @GuardedBy("this") private var head = Option.empty[(VersionId, ChainSize)]
  // What led to the versions whose snapshots are being written.
  @GuardedBy("this") private var begun = Map.empty[VersionId, ChainSize]
  // Snapshots that no cleanup has looked at; nothing is known before the first listing.
  @GuardedBy("this") private var newSnapshots = Option.empty[Set[Long]]
  // Those written since a cleanup began to list: its listing may lack them.
  @GuardedBy("this") private var sinceListing = Set.empty[Long]

  /** The version that tasks work with: the last one committed or loaded. */
  def newest: VersionId = current

  /** Says which version tasks work with. */
  def used(version: VersionId): Unit = current = version

  /** The files that lead to a version, if they are known. */
  def chainTo(version: VersionId): Option[ChainSize] = synchronized {
    head.collect { case (`version`, chain) => chain }
  }

  /** Says what a listing shows to lead to a version. Of an older one than is known it is no news. */
  def chain(version: VersionId, chain: ChainSize): Unit = synchronized {
    if (head.forall(_._1.number <= version.number)) head = Some(version -> chain)
  }

  /** Says that a delta was written on top of the version before. */
  def delta(version: VersionId, bytes: Long): Unit = synchronized {
    head = head.collect {
      case (base, chain) if base.isBaseOf(version) => version -> chain.followedBy(bytes)
    }
    // Sizes can be compared along one line of versions only.
    if (head.isEmpty) begun = Map.empty
  }

  /** Says that a snapshot of a version is going to be written. */
  def snapshotBegins(version: VersionId): Unit = synchronized {
    begun = chainTo(version).map(version -> _).toMap
  }

  /** Says that a snapshot was written. */
  def snapshot(version: VersionId, bytes: Long): Unit = synchronized {
    newSnapshots = newSnapshots.map(_ + version.number)
    sinceListing += version.number
    head = head match {
      case Some((newest, chain)) if newest != version =>
        Some(newest -> begun.get(version).fold(chain)(chain.since(_, bytes)))
      case _ => Some(version -> ChainSize(Some(bytes), 0, 0L))
    }
    begun -= version
  }

  /** Says that a snapshot is gone. */
  def snapshotDeleted(version: VersionId): Unit = synchronized {
    newSnapshots = newSnapshots.map(_ - version.number)
    sinceListing -= version.number
    unsure()
  }

  /** Says that nobody knows what leads to the newest version. */
  def unsure(): Unit = synchronized {
    head = None
    begun = Map.empty
  }

  /** Lists the folder and deletes what no version from `promised` on needs. Where that fails there may
    * be as much to delete as before.
    */
  def cleaningUp(promised: Long)(list: => StateFileListing)(
      delete: StateFileListing => Unit): Unit = {
    synchronized {
      sinceListing = Set.empty
    }
    val listing = list
    delete(listing)
    synchronized {
      newSnapshots = Some(listing.snapshotNumbers.filter(_ > promised) ++ sinceListing)
    }
  }

  /** Whether a cleanup may find files that no version from `promised` on needs: there is a newer
    * snapshot for it to start from than there was at the last one.
    */
  def mayBeObsoleteBefore(promised: Long): Boolean = synchronized {
    newSnapshots.forall(_.exists(_ <= promised))
  }
}
