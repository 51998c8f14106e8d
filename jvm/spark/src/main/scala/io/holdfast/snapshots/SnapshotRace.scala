package io.holdfast.snapshots

import javax.annotation.concurrent.GuardedBy

import io.holdfast.checkpoint.{StateFiles, VersionId}
import io.holdfast.file.StateFile

/** The race between the snapshot of an attempt at a version, which is written beside the tasks, and the
  * next attempt at that version, which makes it wrong.
  *
  * A snapshot has no attempt in its name, so at most one of them may be in the folder. While it is being
  * written, it is given up. From the moment in which it appears nobody knows whether it is there, until
  * the file system has answered: for so long the next attempt waits. What is there, or may be, it deletes
  * before it is durable itself.
  *
  * All calls are for who holds the commit lock, but for those that say otherwise; the ones that wait let
  * it go meanwhile.
  *
  * @param commitLock
  *   held while a commit publishes its version
  */
final private[holdfast] class SnapshotRace(
    files: StateFiles,
    known: FolderKnowledge,
    commitLock: AnyRef) {

  // Whose snapshot is being written beside the tasks, or null.
  @volatile private[this] var current: Attempt = _

  // Snapshots that the next attempt at their version makes wrong, as far as they are known: the last
  // that was written, those that failed in the moment when they should appear (an answer can be lost),
  // and those that a commit has found in the folder.
  @GuardedBy("commitLock") private[this] var mayBeThere = Set.empty[VersionId]

  @volatile private[this] var closed = false

  /** Begins to write a snapshot of the last attempt at a version, unless another thread is writing one.
    * From now on a commit of another attempt finds it.
    *
    * @param choose
    *   asked only if it can be written
    */
  def begin(choose: => Option[Attempt]): Option[Attempt] =
    if (closed || current != null) None
    else {
      val chosen = choose
      current = chosen.orNull
      chosen
    }

  /** Ends what [[begin]] began, whatever became of it. */
  def end(): Unit = {
    current = null
    commitLock.notifyAll()
  }

  /** Whether nobody wants the snapshot of an attempt any more. Any thread may call, without the lock. */
  def isGivenUp(attempt: Attempt): Boolean = closed || attempt.replaced

  /** Says that a snapshot is about to appear.
    *
    * @param attempt
    *   whose it is; none for one that is all of a version
    * @return
    *   whether it may
    */
  def appears(id: VersionId, attempt: Option[Attempt]): Boolean = {
    val wanted = !attempt.exists(isGivenUp)
    if (wanted) {
      attempt.foreach(_.appears = true)
      mayBeThere += id
    }
    wanted
  }

  /** Says that a snapshot is in the folder.
    *
    * @return
    *   whether it stays; another attempt at the version, which has waited for it to appear, deletes it
    */
  def appeared(id: VersionId, bytes: Long, attempt: Option[Attempt]): Boolean = {
    mayBeThere = mayBeThere.filter(_.number > id.number) + id
    known.snapshot(id, bytes)
    !attempt.exists(_.replaced)
  }

  /** Says that the folder has a snapshot of a version that somebody else wrote, before the version is
    * made here.
    */
  def saw(id: VersionId): Unit = mayBeThere += id

  /** Says that another attempt at a version is about to be durable: the snapshot of the one before goes.
    * Waits while it is about to appear, for it would be there after all.
    *
    * @return
    *   whether there was one, or was about to be
    * @throws java.io.IOException
    *   if the file system fails; then the other attempt is not to be durable
    */
  def replaced(id: VersionId): Boolean = {
    val begun = writing(id).isDefined
    while (writing(id).exists(isAppearingThoughReplaced)) commitLock.wait()
    val written = mayBeThere(id)
    if (written) delete(id)
    written || begun
  }

  /** Says that another attempt at a version is about to write a snapshot of that name itself. Waits until
    * nobody else is writing it.
    */
  def taken(id: VersionId): Unit = {
    writing(id).foreach(_.replaced = true)
    while (writing(id).isDefined) commitLock.wait()
  }

  /** Whether another attempt at a version would have to wait. */
  def isAppearing(number: Long): Boolean =
    Option(current).exists(attempt => attempt.id.number == number && attempt.appears)

  /** Deletes a snapshot.
    *
    * @throws java.io.IOException
    *   if the file system fails
    */
  def delete(id: VersionId): Unit = {
    files.delete(files.path(StateFile.Snapshot, id))
    known.snapshotDeleted(id)
    mayBeThere -= id
  }

  /** Gives up what is being written; nothing is begun from now on. Any thread may call, without the lock.
    */
  def close(): Unit = closed = true

  private[this] def isAppearingThoughReplaced(attempt: Attempt): Boolean = {
    attempt.replaced = true
    attempt.appears
  }

  private[this] def writing(id: VersionId): Option[Attempt] = Option(current).filter(_.id == id)
}
