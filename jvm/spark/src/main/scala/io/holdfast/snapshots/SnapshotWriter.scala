package io.holdfast.snapshots

import javax.annotation.concurrent.GuardedBy

import org.apache.spark.internal.Logging

import io.holdfast.checkpoint.{StateFileListing, StateFiles, VersionId, VersionedFile}
import io.holdfast.conf.StoreContext
import io.holdfast.file.StateFile
import io.holdfast.memory.StoreMemory
import io.holdfast.metrics.HoldfastMetrics
import io.holdfast.rows.VerifyingCursor
import io.holdfast.surroundings.{Clock, StoreActivity}
import io.holdfast.table.{RowCursor, Version}
import io.holdfast.versions.VersionsInUse

/** Writes snapshots of versions: one at a time beside the tasks, whoever asks.
  *
  * A version never changes, so tasks go on meanwhile. What makes a snapshot wrong while it is being
  * written is another attempt at its version, here or in another executor: then it is given up. If it
  * is there already, or may be, the other attempt deletes it before it is durable itself. With row
  * checksums on, every row is verified before it is written, as Spark's provider does
  * (`HDFSBackedStateStoreProvider.writeSnapshotFile`, Spark 4.2).
  *
  * Another executor may have the same version, and write the same snapshot with its rows in another
  * order. Beside file checksums, which appear after their file, one that took the place of the other
  * would be damaged for readers in between, and for good if its writer dies there. So where those are, a
  * snapshot that the folder has is left as it is.
  *
  * In format 1 a run of the query that is over writes none. Where its user has set the query back, the run
  * after it makes the same versions once more, of other rows and with deltas that may well be the same, as
  * those of batches without data are.
  *
  * Any thread may call.
  *
  * @param activity
  *   whether the run of the query goes on, and has the store here
  * @param commitLock
  *   held while a commit publishes its version, and while an attempt is chosen to be written
  */
final private[holdfast] class SnapshotWriter(
    context: StoreContext,
    files: StateFiles,
    known: FolderKnowledge,
    metrics: HoldfastMetrics,
    reported: ReportedSnapshots,
    clock: Clock,
    memory: StoreMemory,
    inUse: VersionsInUse,
    activity: StoreActivity,
    commitLock: AnyRef)
    extends Logging {
  import SnapshotWriter._

  // The one that is being written beside the tasks, or null.
  @volatile private var current: Attempt = _
  // Snapshots that the next attempt at their version makes wrong, as far as they are known: the last
  // that was written, those that failed in the moment when they should appear (an answer can be lost),
  // and those that a commit has found in the folder.
  @GuardedBy("commitLock") private var mayBeThere = Set.empty[VersionId]
  @volatile private var closed = false

  /** Writes a snapshot beside the tasks, unless another thread is writing one. The folder has to have
    * the delta of the attempt, unchanged from beginning to end.
    *
    * @param choose
    *   the last attempt at a version; asked under the commit lock, and only if it can be written
    * @param listed
    *   what the folder held before that, if somebody has looked
    * @return
    *   whether there is a snapshot of the version now
    * @throws java.io.IOException
    *   if the file system fails; no file appears then
    * @throws org.apache.spark.SparkException
    *   of class STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED if a row was damaged in memory; no file
    *   appears then
    */
  def writeBesideTasks(choose: => Option[Attempt])(
      listed: Option[StateFileListing] = None): Boolean = begin(choose).exists { attempt =>
    val use = files.use()
    try {
      known.snapshotBegins(attempt.id)
      val before = listed.getOrElse(files.list())
      val delta =
        if (files.isReplaced(attempt.id, attempt.delta, before)) None
        else before.delta(attempt.id)
      def mayAppear = {
        val now = files.list()
        now.delta(attempt.id) == delta && sameSnapshot(attempt.id, now).isEmpty
      }
      // Asked when the delta was seen: as long as the run goes on, it is that of the attempt.
      def mayWrite = attempt.id.id.isDefined || activity.goesOn
      delta.isDefined && mayWrite && (sameSnapshot(attempt.id, before) match {
        case Some(snapshot) => isLeft(attempt, snapshot)
        case None => write(attempt.id, attempt.version, Some(attempt), mayAppear)
      })
    } finally {
      end()
      use.close()
    }
  }

  // A snapshot that somebody else has written of just this attempt. One that was deleted may be in a
  // listing that comes late.
  private def sameSnapshot(id: VersionId, listing: StateFileListing): Option[VersionedFile] =
    listing.snapshot(id).filter { _ =>
      files.hasChecksums && !listing.hasOlderSnapshot(id) && files.exists(StateFile.Snapshot, id)
    }

  // The same for the snapshot of somebody else as for one that was written here. If another attempt has
  // committed meanwhile, it did not know of it.
  private def isLeft(attempt: Attempt, snapshot: VersionedFile): Boolean = {
    val good = commitLock.synchronized {
      val isOfLast = isGood(attempt.id, snapshot.bytes, Some(attempt))
      if (!isOfLast) delete(attempt.id)
      isOfLast
    }
    if (good) reported.report(attempt.id.number)
    good
  }

  // From when it is chosen a commit of another attempt finds it.
  private def begin(choose: => Option[Attempt]): Option[Attempt] = commitLock.synchronized {
    if (closed || current != null) None
    else {
      val chosen = choose
      current = chosen.orNull
      chosen
    }
  }

  private def end(): Unit = commitLock.synchronized {
    current = null
    commitLock.notifyAll()
  }

  /** Writes the snapshot that is all of a version, in its commit. For who holds the commit lock; it is
    * let go while another thread gives up its snapshot of the version, which has the same name.
    */
  def writeInCommit(id: VersionId, version: Version): Unit = {
    writing(id).foreach(_.replaced = true)
    while (writing(id).isDefined) commitLock.wait()
    val _ = write(id, version, None, mayAppear = true)
  }

  /** Says that another attempt at a version is about to be durable. The snapshot of the one before
    * goes. For who holds the commit lock; it is let go while another thread makes that snapshot appear,
    * which would be there after all.
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

  /** Whether another attempt at a version would have to wait. For who holds the commit lock. */
  def isAppearing(number: Long): Boolean =
    Option(current).exists(attempt => attempt.id.number == number && attempt.appears)

  private def isAppearingThoughReplaced(attempt: Attempt): Boolean = {
    attempt.replaced = true
    attempt.appears
  }

  private def writing(id: VersionId): Option[Attempt] = Option(current).filter(_.id == id)

  /** Says that the folder has a snapshot of a version that somebody else wrote, before the version is
    * made here. For who holds the commit lock.
    */
  def saw(id: VersionId): Unit = mayBeThere += id

  /** Gives up what is being written; nothing is written from now on. */
  def close(): Unit = {
    closed = true
    files.close()
  }

  private def write(
      id: VersionId,
      version: Version,
      writing: Option[Attempt],
      mayAppear: => Boolean): Boolean = {
    val start = clock.nanos
    // Snapshots are what a store that is near its limit recovers from: nothing refuses them.
    val walk = memory.newUse(refuses = false)
    val use = inUse.use(version)
    val written =
      try writeRows(id, version, version.cursorOfAll(walk), writing, mayAppear)
      finally {
        walk.end()
        use.close()
      }
    val good = written.filter(isGood(id, _, writing))
    good.foreach(bytes => tell(id, version, bytes, clock.millisSince(start)))
    if (good.isEmpty) {
      logInfo(
        s"Gave up the snapshot of version $id of $context: there is another attempt at the version, " +
          "here or in another executor, or another executor has written it, or the store is closed")
    }
    good.isDefined
  }

  // The size of the file, if it has appeared.
  private def writeRows(
      id: VersionId,
      version: Version,
      cursor: RowCursor,
      writing: Option[Attempt],
      mayAppear: => Boolean): Option[Long] = {
    val rows = new UntilGivenUp(verified(cursor), () => writing.exists(isGivenUp))
    // Beside the tasks another executor may write the same.
    val replaces = writing.isEmpty || id.id.isEmpty
    val output = files.create(StateFile.Snapshot, id, replaces)
    try {
      output.begin(version)
      output.records.putAll(rows)
      if (mayAppear && appears(id, writing)) {
        output.finish()
        Some(output.fileBytes).filter(_ => replaces || !files.hasLeft(StateFile.Snapshot, id))
      } else {
        output.cancel()
        None
      }
    } catch {
      case e: Throwable =>
        output.cancel()
        throw e
    } finally rows.close()
  }

  private def isGivenUp(attempt: Attempt): Boolean = closed || attempt.replaced

  // From here on another attempt at the version waits for what becomes of the file, and deletes it.
  private def appears(id: VersionId, writing: Option[Attempt]): Boolean =
    commitLock.synchronized {
      val wanted = !writing.exists(isGivenUp)
      if (wanted) {
        writing.foreach(_.appears = true)
        mayBeThere += id
      }
      wanted
    }

  // Whether it stays. Another attempt may wait for it to appear, and to be deleted.
  private def isGood(id: VersionId, bytes: Long, writing: Option[Attempt]): Boolean =
    commitLock.synchronized {
      mayBeThere = mayBeThere.filter(_.number > id.number) + id
      known.snapshot(id, bytes)
      !writing.exists(_.replaced)
    }

  private def tell(id: VersionId, version: Version, bytes: Long, millis: Long): Unit = {
    metrics.snapshotWritten(id.number, millis, bytes)
    logInfo(
      s"Wrote ${files.path(StateFile.Snapshot, id)}: rows=${context.keyCount(version)} bytes=$bytes " +
        s"ms=$millis store=$context")
    reported.report(id.number)
  }

  private def verified(rows: RowCursor): RowCursor =
    if (context.format.checksums) new VerifyingCursor(rows, context.format.store) else rows

  private def delete(id: VersionId): Unit = {
    files.delete(files.path(StateFile.Snapshot, id))
    known.snapshotDeleted(id)
    mayBeThere -= id
  }
}

private object SnapshotWriter {

  /** Ends early when nobody wants the rows any more, and lets tasks that wait for a processor go first:
    * a commit takes less time than the system leaves a busy thread its processor.
    */
  final private class UntilGivenUp(rows: RowCursor, givenUp: () => Boolean) extends RowCursor {
    private[this] var count = 0

    override def next(): Boolean = {
      count += 1
      (count % PauseEvery != 0 || goesOn()) && rows.next()
    }

    private[this] def goesOn(): Boolean = {
      Thread.`yield`()
      !givenUp()
    }

    override def page: Array[Byte] = rows.page

    override def offset: Int = rows.offset

    override def close(): Unit = rows.close()
  }

  // Seldom: walking over a row takes some nanoseconds.
  private val PauseEvery = 4096
}
