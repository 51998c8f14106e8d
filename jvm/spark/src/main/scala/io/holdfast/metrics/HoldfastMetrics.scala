package io.holdfast.metrics

import java.util.concurrent.atomic.{AtomicLong, LongAdder}

import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCustomMetric,
  StateStoreCustomSizeMetric,
  StateStoreCustomSumMetric,
  StateStoreCustomTimingMetric,
  StateStoreInstanceMetric,
  StateStoreMetrics,
  StateStoreSnapshotLastUploadInstanceMetric
}

import io.holdfast.conf.StoreContext
import io.holdfast.table.{Footprint, Rows, Transaction, Version}
import io.holdfast.versions.{
  CommitTimes,
  CommittedVersion,
  StartingVersion,
  StoreUsage,
  VersionsInMemory
}

/** The numbers of a store: those that Spark's provider reports, under its names, and Holdfast's own.
  * All are counters; nothing walks the state. Any thread may call.
  */
final private[holdfast] class HoldfastMetrics(context: StoreContext, inMemory: VersionsInMemory) {
  import HoldfastMetrics._

  private val hits = new LongAdder
  private val misses = new LongAdder
  private val snapshotMillis = new LongAdder
  private val snapshotBytes = new LongAdder
  private val lastSnapshot = new AtomicLong(-1L)

  def hit(): Unit = hits.increment()
  def miss(): Unit = misses.increment()

  def snapshotWritten(version: Long, millis: Long, bytes: Long): Unit = {
    lastSnapshot.accumulateAndGet(version, (a, b) => math.max(a, b))
    snapshotMillis.add(millis)
    snapshotBytes.add(bytes)
  }

  /** The snapshots since the last call. */
  def takeSnapshots(): SnapshotWork =
    SnapshotWork(snapshotMillis.sumThenReset(), snapshotBytes.sumThenReset())

  /** Heap bytes of the versions in memory, what they share counted once. */
  def memoryUsedBytes: Long = Version.heldBytes(inMemory.all)

  /** The counters that belong to the provider rather than to one batch, by metric name. */
  def counters: Map[String, Long] =
    Map(CacheHits.name -> hits.sum, CacheMisses.name -> misses.sum)

  /** What a writable store reports to Spark.
    *
    * @param snapshots
    *   what was written since a store was opened before
    * @param committed
    *   what the store's commit made, once it has committed
    * @param transaction
    *   the store's changes until then
    * @param nearLimit
    *   whether the stores of this JVM are near their memory limit
    */
  def report(
      start: StartingVersion,
      usage: StoreUsage,
      snapshots: SnapshotWork,
      committed: Option[CommittedVersion],
      transaction: Transaction,
      nearLimit: Boolean): StateStoreMetrics = {
    def commitTime(of: CommitTimes => Long): Long = committed.fold(0L)(made => of(made.times))
    val rows = committed.fold[Rows with Footprint](transaction)(_.version)
    val versions = (inMemory.all ++ committed.map(_.version)).distinct
    val memory = if (versions.isEmpty) rows.heldBytes else Version.heldBytes(versions)
    StateStoreMetrics(
      rows.keyCount,
      memory,
      Map(
        StateOnCurrentVersion -> rows.heldBytes,
        CacheHits -> hits.sum,
        CacheMisses -> misses.sum,
        AutoRepaired -> flag(start.loaded.exists(_.repaired)),
        ForcedSnapshots -> flag(usage.forceSnapshot),
        OpenTime -> start.openNanos / NanosInMilli,
        LoadTime -> start.loaded.fold(0L)(_ => start.openNanos / NanosInMilli),
        CommitTime -> commitTime(_.total) / NanosInMilli,
        LoadBytes -> start.loaded.fold(0L)(_.bytes),
        SnapshotTime -> snapshots.millis,
        SnapshotBytes -> snapshots.bytes,
        CompactionTime -> committed.fold(0L)(_.compactionNanos) / NanosInMilli,
        LiveBytes -> rows.liveBytes,
        HeldBytes -> memory,
        VersionCount -> versions.size.toLong,
        DeltaRecords -> committed.fold(transaction.changeCount)(_.deltaRecords),
        DeltaBytes -> committed.fold(0L)(_.deltaBytes),
        ReplayedFiles -> start.loaded.fold(0L)(_.replayedFiles),
        RelocatedBytes -> committed.fold(0L)(_.relocatedBytes),
        Gets -> usage.counts.gets,
        Puts -> usage.counts.puts,
        Removes -> usage.counts.removes,
        Iterations -> usage.counts.iterations,
        Scans -> usage.counts.scans,
        CommitRecordsTime -> commitTime(_.records) / NanosInMicro,
        CommitFileTime -> commitTime(_.file) / NanosInMicro,
        CommitVersionTime -> commitTime(_.version) / NanosInMicro,
        CommitSnapshotTime -> commitTime(_.snapshot) / NanosInMicro,
        NearMemoryLimit -> flag(nearLimit)),
      Map(LastSnapshot.withNewId(context.id.partitionId, context.id.storeName) -> lastSnapshot.get))
  }

  private def flag(set: Boolean): Long = if (set) 1L else 0L
}

private[holdfast] object HoldfastMetrics {
  private val NanosInMilli = 1000000L
  private val NanosInMicro = 1000L

  // Names and descriptions of Spark's own (HDFSBackedStateStoreProvider, Spark 4.2).
  private val StateOnCurrentVersion = StateStoreCustomSizeMetric(
    "stateOnCurrentVersionSizeBytes",
    "size of state only on current version")
  private val CacheHits =
    StateStoreCustomSumMetric("loadedMapCacheHitCount", "count of versions found in memory")
  private val CacheMisses =
    StateStoreCustomSumMetric("loadedMapCacheMissCount", "count of versions loaded from files")
  private val AutoRepaired = StateStoreCustomSumMetric(
    "numSnapshotsAutoRepaired",
    "number of stores loaded past a snapshot that could not be read")
  private val ForcedSnapshots =
    StateStoreCustomSumMetric("forceSnapshotCount", "number of stores that had to write a snapshot")

  private val OpenTime =
    StateStoreCustomTimingMetric("holdfastOpenTimeMs", "Holdfast: time to open the version")
  private val LoadTime =
    StateStoreCustomTimingMetric("holdfastLoadTimeMs", "Holdfast: time to load from files")
  private val CommitTime =
    StateStoreCustomTimingMetric("holdfastCommitTimeMs", "Holdfast: time to commit")
  private val SnapshotTime = StateStoreCustomTimingMetric(
    "holdfastSnapshotTimeMs",
    "Holdfast: time snapshots were written beside batches since the last one")
  private val LoadBytes =
    StateStoreCustomSizeMetric("holdfastLoadBytes", "Holdfast: size of the files loaded")
  private val SnapshotBytes = StateStoreCustomSizeMetric(
    "holdfastSnapshotBytes",
    "Holdfast: size of the snapshots written beside batches since the last one")
  private val CompactionTime = StateStoreCustomTimingMetric(
    "holdfastCompactionTimeMs",
    "Holdfast: time to move rows out of sparse pages")
  private val LiveBytes =
    StateStoreCustomSizeMetric("holdfastLiveBytes", "Holdfast: bytes of rows")
  private val HeldBytes = StateStoreCustomSizeMetric(
    "holdfastHeldBytes",
    "Holdfast: heap bytes of all versions in memory")
  private val VersionCount =
    StateStoreCustomSumMetric("holdfastVersionsInMemory", "Holdfast: versions in memory")
  private val DeltaRecords =
    StateStoreCustomSumMetric("holdfastDeltaRecords", "Holdfast: changed keys of the batch")
  private val DeltaBytes =
    StateStoreCustomSizeMetric("holdfastDeltaBytes", "Holdfast: size of the delta file")
  private val ReplayedFiles =
    StateStoreCustomSumMetric("holdfastReplayedFiles", "Holdfast: delta files replayed to load")
  private val RelocatedBytes = StateStoreCustomSizeMetric(
    "holdfastRelocatedBytes",
    "Holdfast: bytes of rows moved out of sparse pages")

  private val Gets = StateStoreCustomSumMetric("holdfastGetCount", "Holdfast: keys looked up")
  private val Puts = StateStoreCustomSumMetric("holdfastPutCount", "Holdfast: rows put")
  private val Removes = StateStoreCustomSumMetric("holdfastRemoveCount", "Holdfast: keys removed")
  private val Iterations =
    StateStoreCustomSumMetric("holdfastIteratorCount", "Holdfast: walks over all rows")
  private val Scans =
    StateStoreCustomSumMetric("holdfastScanCount", "Holdfast: scans of a prefix or a range")

  // The parts of a commit are too short for Spark's timing metrics, which count milliseconds.
  private val CommitRecordsTime = StateStoreCustomSumMetric(
    "holdfastCommitRecordsTimeUs",
    "Holdfast: time of commits to write the changes, us")
  private val CommitFileTime = StateStoreCustomSumMetric(
    "holdfastCommitFileTimeUs",
    "Holdfast: time of commits to finish the delta file, us")
  private val CommitVersionTime = StateStoreCustomSumMetric(
    "holdfastCommitVersionTimeUs",
    "Holdfast: time of commits to make the version in memory, us")
  private val CommitSnapshotTime = StateStoreCustomSumMetric(
    "holdfastCommitSnapshotTimeUs",
    "Holdfast: time of commits for snapshots and to publish the version, us")
  private val NearMemoryLimit = StateStoreCustomSumMetric(
    "holdfastNearMemoryLimitCount",
    "Holdfast: stores of executors whose state is near the memory limit")

  private val LastSnapshot = StateStoreSnapshotLastUploadInstanceMetric()

  val custom: Seq[StateStoreCustomMetric] = Seq(
    StateOnCurrentVersion,
    CacheHits,
    CacheMisses,
    AutoRepaired,
    ForcedSnapshots,
    OpenTime,
    LoadTime,
    LoadBytes,
    CommitTime,
    SnapshotTime,
    SnapshotBytes,
    CompactionTime,
    LiveBytes,
    HeldBytes,
    VersionCount,
    DeltaRecords,
    DeltaBytes,
    ReplayedFiles,
    RelocatedBytes,
    Gets,
    Puts,
    Removes,
    Iterations,
    Scans,
    CommitRecordsTime,
    CommitFileTime,
    CommitVersionTime,
    CommitSnapshotTime,
    NearMemoryLimit)

  val instance: Seq[StateStoreInstanceMetric] = Seq(LastSnapshot)
}
