package io.holdfast.snapshots

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
  * written is another attempt at its version: one of this executor is known (`race`), one of another
  * executor has replaced the delta. Then the snapshot is given up. With row checksums on, every row is
  * verified before it is written, as Spark's provider does
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
  *   held while a commit publishes its version, and for what the race is told
  */
final private[holdfast] class SnapshotWriter(
    context: StoreContext,
    files: StateFiles,
    known: FolderKnowledge,
    race: SnapshotRace,
    metrics: HoldfastMetrics,
    reported: ReportedSnapshots,
    clock: Clock,
    memory: StoreMemory,
    inUse: VersionsInUse,
    activity: StoreActivity,
    commitLock: AnyRef)
    extends Logging {
  import SnapshotWriter._

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
      listed: Option[StateFileListing] = None): Boolean = {
    val begun = commitLock.synchronized(race.begin(choose))
    begun.exists(attempt => writeBegun(attempt, listed))
  }

  private def writeBegun(attempt: Attempt, listed: Option[StateFileListing]): Boolean = {
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
      commitLock.synchronized(race.end())
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
      val isOfLast = race.appeared(attempt.id, snapshot.bytes, Some(attempt))
      if (!isOfLast) race.delete(attempt.id)
      isOfLast
    }
    if (good) reported.report(attempt.id.number)
    good
  }

  /** Writes the snapshot that is all of a version, in its commit. For who holds the commit lock; it is
    * let go while another thread gives up its snapshot of the version, which has the same name.
    */
  def writeInCommit(id: VersionId, version: Version): Unit = {
    race.taken(id)
    val _ = write(id, version, None, mayAppear = true)
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
    val rows = new UntilGivenUp(verified(cursor), () => writing.exists(race.isGivenUp))
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

  private def appears(id: VersionId, writing: Option[Attempt]): Boolean =
    commitLock.synchronized(race.appears(id, writing))

  private def isGood(id: VersionId, bytes: Long, writing: Option[Attempt]): Boolean =
    commitLock.synchronized(race.appeared(id, bytes, writing))

  private def tell(id: VersionId, version: Version, bytes: Long, millis: Long): Unit = {
    metrics.snapshotWritten(id.number, millis, bytes)
    logInfo(
      s"Wrote ${files.path(StateFile.Snapshot, id)}: rows=${context.keyCount(version)} bytes=$bytes " +
        s"ms=$millis store=$context")
    reported.report(id.number)
  }

  private def verified(rows: RowCursor): RowCursor =
    if (context.format.checksums) new VerifyingCursor(rows, context.format.store) else rows
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
