package io.holdfast.store

import javax.annotation.concurrent.GuardedBy

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.sql.execution.streaming.state.holdfast.LeftFiles

import io.holdfast.checkpoint.{StateFiles, VersionId}
import io.holdfast.file.StateFile
import io.holdfast.snapshots.SnapshotRace

/** Where a commit has to look for the snapshot that somebody else wrote of its version: another executor,
  * or a run before. It would be of other rows, and goes before the commit is durable. To ask the folder in
  * every batch would cost a request each, so it is asked only where there may be one.
  *
  * In checkpoint format 2 a snapshot has its attempt in its name, and there is nothing to look for.
  */
final private[store] class SnapshotsOfOthers(
    files: StateFiles,
    race: SnapshotRace,
    commitLock: AnyRef) {

  // The newest version of which a listing has shown a file, once there was one. Who made it may have
  // made the next one too. Written under the commit lock.
  @volatile private[this] var newestListed = Option.empty[Long]

  // The newest version of which an earlier run may have left a snapshot that stays a file. Written under
  // the commit lock.
  private[this] var newestStaying = 0L

  /** Says what the newest version is of which a listing has shown a file. For who holds the commit lock.
    */
  @GuardedBy("commitLock")
  def saw(newest: Long): Unit =
    newestListed = Some(newestListed.fold(newest)(_ max newest))

  /** Lists the folder before a commit if nobody has. A store that begins with nothing has loaded nothing,
    * and its folder may have files all the same, of versions to come: those of a query that was set back
    * to its beginning. Maintenance may have listed the folder by then, and tells nobody here. Any thread
    * may call, without the lock.
    *
    * @throws java.io.IOException
    *   if the file system fails
    */
  def lookAtFolder(id: VersionId): Unit =
    if (id.id.isEmpty && newestListed.isEmpty) {
      val found = files.list()
      val newest = found.latestVersion.getOrElse(0L)
      val go = LeftFiles.go || files.hasChecksums || found.checksumFiles.isEmpty
      commitLock.synchronized {
        saw(if (go) newest else 0L)
        if (!go) newestStaying = newest
      }
    }

  /** Whether a snapshot that an earlier run has left of a version stays where it is. It has to be written
    * anew before the version is durable, for it is of other rows. For who holds the commit lock.
    *
    * @throws java.io.IOException
    *   if the file system fails
    */
  @GuardedBy("commitLock")
  def isToBeOverwritten(id: VersionId): Boolean =
    id.id.isEmpty && id.number <= newestStaying && files.exists(StateFile.Snapshot, id)

  /** Tells the race of the snapshot that the folder has of a version that is about to be durable. A batch
    * that was not committed everywhere may have left the snapshot of another attempt, and of a query that
    * was set back, the run before may be maintained once more, and write one of a version that this one
    * has not come to yet. The attempt before that of a task that is tried again, or the twin of one, may
    * have been in another executor. For who holds the commit lock.
    *
    * @throws java.io.IOException
    *   if the file system fails
    */
  @GuardedBy("commitLock")
  def look(id: VersionId): Unit = {
    def mayBeThere =
      id.number <= newestListed.getOrElse(
        0L) + 1 || SnapshotsOfOthers.isTriedAgain || tasksHaveTwins
    if (id.id.isEmpty && mayBeThere && files.exists(StateFile.Snapshot, id)) race.saw(id)
  }

  // Either of two may be the last to commit.
  private[this] lazy val tasksHaveTwins =
    Option(SparkEnv.get).exists(_.conf.getBoolean("spark.speculation", defaultValue = false))
}

private[store] object SnapshotsOfOthers {

  /** Whether this thread's task, or its stage, was tried before. */
  def isTriedAgain: Boolean = Option(TaskContext.get()).exists { task =>
    task.attemptNumber() > 0 || task.stageAttemptNumber() > 0
  }
}
