package io.holdfast.metrics

import org.apache.spark.sql.execution.streaming.state.{
  StateStoreCustomMetric,
  StateStoreCustomSizeMetric,
  StateStoreCustomSumMetric,
  StateStoreCustomTimingMetric
}

import io.holdfast.versions.CommitTimes

/** The custom metrics of a store, each with where its number comes from. Spark adds up those of all
  * stores of an operator.
  */
private[metrics] object CustomMetrics {
  val CacheHits = "loadedMapCacheHitCount"
  val CacheMisses = "loadedMapCacheMissCount"

  private type Reading = BatchFacts => Long

  // Those of Spark's that not all lines have.
  private def laterReadings: Seq[(StateStoreCustomMetric, Reading)] = Seq(
    sum(
      "numSnapshotsAutoRepaired",
      "number of stores loaded past a snapshot that could not be read")(facts =>
      flag(facts.start.loaded.exists(_.repaired))),
    sum("forceSnapshotCount", "number of stores that had to write a snapshot")(facts =>
      flag(facts.usage.forceSnapshot))).filter(_ => SnapshotMetrics.exist)

  private val readings: Seq[(StateStoreCustomMetric, Reading)] = Seq(
    // Names and descriptions of Spark's own (HDFSBackedStateStoreProvider, Spark 4.2).
    size("stateOnCurrentVersionSizeBytes", "size of state only on current version")(
      _.rows.heldBytes),
    sum(CacheHits, "count of versions found in memory")(_.cacheHits),
    sum(CacheMisses, "count of versions loaded from files")(_.cacheMisses)) ++
    laterReadings ++ Seq(
      // Holdfast's own.
      millis("holdfastOpenTimeMs", "time to open the version")(_.start.openNanos),
      millis("holdfastLoadTimeMs", "time to load from files")(facts =>
        facts.start.loaded.fold(0L)(_ => facts.start.openNanos)),
      size("holdfastLoadBytes", own("size of the files loaded"))(_.start.loaded.fold(0L)(_.bytes)),
      millis("holdfastCommitTimeMs", "time to commit")(commitTime(_.total)),
      timing(
        "holdfastSnapshotTimeMs",
        own("time snapshots were written beside batches since the last one"))(_.snapshots.millis),
      size(
        "holdfastSnapshotBytes",
        own("size of the snapshots written beside batches since the last one"))(_.snapshots.bytes),
      millis("holdfastCompactionTimeMs", "time to move rows out of sparse pages")(
        _.committed.fold(0L)(_.compactionNanos)),
      size("holdfastLiveBytes", own("bytes of rows"))(_.rows.liveBytes),
      size("holdfastHeldBytes", own("heap bytes of all versions in memory"))(_.heldBytes),
      sum("holdfastVersionsInMemory", own("versions in memory"))(_.versions.toLong),
      sum("holdfastDeltaRecords", own("changed keys of the batch"))(_.changes),
      size("holdfastDeltaBytes", own("size of the delta file"))(_.committed.fold(0L)(_.deltaBytes)),
      sum("holdfastReplayedFiles", own("delta files replayed to load"))(
        _.start.loaded.fold(0L)(_.replayedFiles)),
      size("holdfastRelocatedBytes", own("bytes of rows moved out of sparse pages"))(
        _.committed.fold(0L)(_.relocatedBytes)),
      sum("holdfastGetCount", own("keys looked up"))(_.usage.counts.gets),
      sum("holdfastPutCount", own("rows put"))(_.usage.counts.puts),
      sum("holdfastRemoveCount", own("keys removed"))(_.usage.counts.removes),
      sum("holdfastIteratorCount", own("walks over all rows"))(_.usage.counts.iterations),
      sum("holdfastScanCount", own("scans of a prefix or a range"))(_.usage.counts.scans),
      sum(
        "holdfastLookedAtCount",
        own("rows that walks over all rows, or over expired ones in their place, looked at"))(
        _.usage.counts.lookedAt),
      sum(
        "holdfastEvictionHintCount",
        own("walks that looked for expired rows only where there may be some"))(
        _.usage.counts.hinted),
      micros(
        "holdfastCommitRecordsTimeUs",
        "to write the changes, as far as it is not done while the version is made")(_.records),
      micros("holdfastCommitFileTimeUs", "to finish the delta file")(_.file),
      micros("holdfastCommitVersionTimeUs", "to make the version in memory")(_.version),
      micros("holdfastCommitSnapshotTimeUs", "for snapshots and to publish the version")(
        _.snapshot),
      sum(
        "holdfastNearMemoryLimitCount",
        own("stores of executors whose state is near the memory limit"))(facts =>
        flag(facts.nearLimit)))

  /** What a store may report, as the driver asks before there is any. */
  val all: Seq[StateStoreCustomMetric] = readings.map(_._1)

  /** The numbers of a batch. */
  def of(facts: BatchFacts): Map[StateStoreCustomMetric, Long] =
    readings.map { case (metric, reading) => metric -> reading(facts) }.toMap

  private def own(description: String): String = s"Holdfast: $description"

  private def sum(name: String, description: String)(reading: Reading) =
    StateStoreCustomSumMetric(name, description) -> reading

  private def size(name: String, description: String)(reading: Reading) =
    StateStoreCustomSizeMetric(name, description) -> reading

  private def timing(name: String, description: String)(reading: Reading) =
    StateStoreCustomTimingMetric(name, description) -> reading

  private def millis(name: String, description: String)(nanos: Reading) =
    timing(name, own(description))(nanos(_) / 1000000L)

  // The parts of a commit are too short for Spark's timing metrics, which count milliseconds.
  private def micros(name: String, what: String)(part: CommitTimes => Long) =
    sum(name, own(s"time of commits $what, us"))(commitTime(part)(_) / 1000L)

  private def commitTime(part: CommitTimes => Long): Reading =
    _.committed.fold(0L)(made => part(made.times))

  private def flag(set: Boolean): Long = if (set) 1L else 0L
}
