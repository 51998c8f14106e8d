package io.holdfast.metrics

import java.util.concurrent.atomic.{AtomicLong, LongAdder}

import org.apache.spark.sql.execution.streaming.state.{StateStoreCustomMetric, StateStoreMetrics}

import io.holdfast.conf.StoreContext
import io.holdfast.table.{Footprint, Rows, Transaction, Version}
import io.holdfast.versions.{CommittedVersion, StartingVersion, StoreUsage, VersionsInMemory}

/** The numbers of a store: those that Spark's provider reports, under its names, and Holdfast's own
  * ([[CustomMetrics]]). All are counters; nothing walks the state. Any thread may call.
  */
final private[holdfast] class HoldfastMetrics(context: StoreContext, inMemory: VersionsInMemory) {
  private val hits = new LongAdder
  private val misses = new LongAdder
  private val snapshotMillis = new AtomicLong
  private val snapshotBytes = new AtomicLong
  private val lastSnapshot = new AtomicLong(-1L)

  def hit(): Unit = hits.increment()
  def miss(): Unit = misses.increment()

  def snapshotWritten(version: Long, millis: Long, bytes: Long): Unit = {
    lastSnapshot.accumulateAndGet(version, (a, b) => math.max(a, b))
    snapshotMillis.addAndGet(millis)
    snapshotBytes.addAndGet(bytes)
    ()
  }

  /** The snapshots since the last call. */
  def takeSnapshots(): SnapshotWork =
    SnapshotWork(snapshotMillis.getAndSet(0L), snapshotBytes.getAndSet(0L))

  /** Heap bytes of the versions in memory, what they share counted once. */
  def memoryUsedBytes: Long = Version.heldBytes(inMemory.all)

  /** The counters that belong to the provider rather than to one batch, by metric name. */
  def counters: Map[String, Long] =
    Map(CustomMetrics.CacheHits -> hits.sum, CustomMetrics.CacheMisses -> misses.sum)

  /** What a writable store reports to Spark.
    *
    * @param keys
    *   number of keys to report
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
      keys: Long,
      nearLimit: Boolean): StateStoreMetrics = {
    val rows = committed.fold[Rows with Footprint](transaction)(_.version)
    val versions = (inMemory.all ++ committed.map(_.version)).distinct
    val memory = if (versions.isEmpty) rows.heldBytes else Version.heldBytes(versions)
    val batch = BatchFacts(
      start,
      usage,
      snapshots,
      committed,
      rows,
      committed.fold(transaction.changeCount)(_.deltaRecords),
      versions.size,
      memory,
      hits.sum,
      misses.sum,
      nearLimit)
    StoreReport.of(context.id, keys, memory, CustomMetrics.of(batch), lastSnapshot.get)
  }
}

private[holdfast] object HoldfastMetrics {
  val custom: Seq[StateStoreCustomMetric] = CustomMetrics.all
}
