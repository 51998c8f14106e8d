package io.holdfast.store

import scala.util.control.NonFatal

import io.holdfast.checkpoint.StateFiles
import io.holdfast.conf.StoreContext
import io.holdfast.eviction.TaskHints
import io.holdfast.memory.{MemoryLimit, StoreMemory}
import io.holdfast.metrics.HoldfastMetrics
import io.holdfast.snapshots.{
  Cleanup,
  FolderKnowledge,
  ReportedSnapshots,
  RequestedSnapshots,
  SnapshotMaintenance,
  SnapshotPolicy,
  SnapshotRace,
  SnapshotWriter
}
import io.holdfast.surroundings.{StoreActivity, Surroundings}
import io.holdfast.versions.{VersionLoader, VersionsInMemory, VersionsInUse}

/** The parts of an initialised provider. */
final private[holdfast] class StoreParts(
    val context: StoreContext,
    val surroundings: Surroundings) {
  private[this] val clock = surroundings.clock

  // Finished files and published versions follow the same order, so that the last attempt at a
  // version wins in the folder and in memory alike.
  private[holdfast] val commitLock = new Object

  val files = new StateFiles(context, surroundings.fileManager)
  val hints = new TaskHints(context.providerId)
  val inMemory = new VersionsInMemory(context.conf.maxVersionsToRetainInMemory)
  val metrics = new HoldfastMetrics(context, inMemory)
  val memory = new StoreMemory(
    context.toString,
    MemoryLimit.of(context.holdfastConf, surroundings.sparkBytes),
    surroundings.heldBytes,
    forgetEnded = OpenStores.forgetEnded)
  val inUse = new VersionsInUse(inMemory, memory)
  val loader = new VersionLoader(context, files, inMemory, inUse, memory, surroundings.readers)

  private[this] val activity = surroundings.activity(context.providerId)
  private[this] val known = new FolderKnowledge
  private[this] val reported = new ReportedSnapshots(context, clock)
  private[holdfast] val race = new SnapshotRace(files, known, commitLock)
  private[this] val writer =
    new SnapshotWriter(
      context,
      files,
      known,
      race,
      metrics,
      reported,
      clock,
      memory,
      inUse,
      activity,
      commitLock)

  val requested = new RequestedSnapshots(
    context,
    writer,
    reported,
    ahead = !SnapshotPolicy.isSetByUser(context.conf),
    surroundings.background,
    clock)
  val snapshots = new SnapshotMaintenance(
    context,
    files,
    inMemory,
    known,
    requested,
    writer,
    SnapshotPolicy(context.conf))
  val cleanup = new Cleanup(context, files, known)
  val failures = new StoreFailures(context)
  val versions = new StoreVersions(
    context,
    files,
    inMemory,
    loader,
    known,
    race,
    writer,
    requested,
    reported,
    inUse,
    metrics,
    failures,
    surroundings.beside,
    clock,
    commitLock)

  /** Forgets the versions in memory if the run of the query is over, or has the store elsewhere. Who needs
    * one nevertheless loads it. Any thread may call.
    */
  def forgetIfEnded(): Unit =
    if (inMemory.latest.isDefined && hasEnded) {
      inMemory.clear()
      inUse.forgotten()
    }

  // A task may tell the coordinator of its store when the run is over already. That one counts as kept
  // until the executor ends, beside those of the run that comes next.
  private[this] def hasEnded: Boolean = {
    // Nearly always there are none, and the driver has nothing more to answer.
    def isFollowed = OpenStores.ofLaterRuns(this).exists(_.isActive) && isActive
    !asked(_.isKept, otherwise = true) || isFollowed
  }

  private def isActive: Boolean = asked(_.isActive, otherwise = false)

  // A driver that does not answer says nothing of the run.
  private[this] def asked(question: StoreActivity => Boolean, otherwise: Boolean): Boolean =
    try question(activity)
    catch { case NonFatal(_) => otherwise }

  /** Forgets what is in memory. Snapshots that are being written are given up: every version can be
    * loaded without them.
    */
  def close(): Unit = {
    requested.close()
    race.close()
    files.close()
    inMemory.clear()
    memory.close()
  }
}
