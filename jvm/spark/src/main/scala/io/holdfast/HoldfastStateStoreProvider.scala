package io.holdfast

import org.apache.hadoop.conf.Configuration
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  StateStoreConf,
  StateStoreCustomMetric,
  StateStoreId
}
import org.apache.spark.sql.types.StructType

import io.holdfast.checkpoint.VersionId
import io.holdfast.conf.StoreContext
import io.holdfast.metrics.HoldfastMetrics
import io.holdfast.rows.{RowCounts, RowFormat, ScanOrder, StoreFamilies}
import io.holdfast.session.FitsThisSpark
import io.holdfast.store.{
  HoldfastReadStateStore,
  MaintainedProvider,
  OpenStores,
  ProviderCalls,
  StoreKinds,
  StoreParts
}
import io.holdfast.surroundings.Surroundings
import io.holdfast.versions.{StartingVersion, StoreUsage}

/** The state store provider: set `spark.sql.streaming.stateStore.providerClass` to this class.
  *
  * It keeps the state of one store (one partition of one operator) in memory and its changes in the
  * delta and snapshot files of Spark's default `HDFSBackedStateStoreProvider`, so that a query can
  * switch to it and back. Versions are immutable values: opening one copies nothing and waits for
  * nobody, whatever other attempts, readers and maintenance do at the time.
  *
  * Made by Spark through the constructor without arguments, on the driver only to ask for its
  * metrics. After `init`, any thread may call; the stores it hands out are for one thread each.
  */
class HoldfastStateStoreProvider
    extends FitsThisSpark
    with ProviderCalls
    with MaintainedProvider
    with Logging {

  @volatile private[this] var parts: Option[StoreParts] = None

  override private[holdfast] def store: StoreParts = parts.getOrElse {
    throw new IllegalStateException(
      "HoldfastStateStoreProvider was used before init; Spark initialises a provider before use")
  }

  override private[holdfast] def begin(
      id: StateStoreId,
      keySchema: StructType,
      valueSchema: StructType,
      order: Option[ScanOrder],
      conf: StateStoreConf,
      hadoopConf: Configuration,
      families: Option[RowFormat => StoreFamilies]): Unit = {
    val around = surroundings
    val least = around.leastLimitBytes
    val made =
      new StoreParts(
        StoreContext(id, keySchema, valueSchema, order, conf, hadoopConf, families, least),
        around)
    parts = Some(made)
    OpenStores.add(made)
  }

  // Not `orNull`: the JVM would look for a class that Scala 2.12 has not before `FitsThisSpark` speaks.
  override def stateStoreId: StateStoreId = parts.fold(null: StateStoreId)(_.context.id)

  override private[holdfast] def writable(version: VersionId, forceSnapshot: Boolean): StateStore =
    openForWriting(opened(store, version), forceSnapshot)

  override private[holdfast] def readable(version: VersionId): ReadStateStore = {
    val parts = store
    StoreKinds.reading(opened(parts, version), parts)
  }

  override private[holdfast] def upgraded(
      read: ReadStateStore,
      version: VersionId,
      forceSnapshot: Boolean): StateStore = read match {
    case read: HoldfastReadStateStore if read.start.id == version && read.id == stateStoreId =>
      openForWriting(read.start, forceSnapshot, read.counts)
    case _ => writable(version, forceSnapshot)
  }

  override private[holdfast] def replacing(version: VersionId): StateStore =
    newStore(
      store.versions.nothing(version.number),
      StoreUsage(forceSnapshot = true, replacesState = true, new RowCounts))

  override def supportedCustomMetrics: Seq[StateStoreCustomMetric] = HoldfastMetrics.custom

  override protected def snapshotMaintenance(): Unit = store.snapshots.run()

  override protected def cleanupMaintenance(): Unit = store.cleanup.run()

  override def close(): Unit = parts.foreach { made =>
    OpenStores.remove(made)
    made.close()
  }

  override private[holdfast] def replayed(snapshot: VersionId, end: VersionId): StateStore =
    openForWriting(store.versions.replayed(snapshot, end), forceSnapshot = false)

  override private[holdfast] def replayedForReading(
      snapshot: VersionId,
      end: VersionId): ReadStateStore =
    StoreKinds.reading(store.versions.replayed(snapshot, end), store)

  override def toString: String =
    parts.fold("HoldfastStateStoreProvider[not initialised]")(_.context.toString)

  /** What the store is given from outside; tests give others. Asked for once, in `init`. */
  private[holdfast] def surroundings: Surroundings = Surroundings.ofThisJvm

  /** Makes the writable store of a version; tests put their own kind in its place. */
  protected def newStore(start: StartingVersion, usage: StoreUsage): StateStore =
    StoreKinds.writing(start, usage, store)

  private[this] def opened(parts: StoreParts, version: VersionId): StartingVersion =
    parts.versions.open(version, parts.hints.of(version.number).flatMap(_.eventTime))

  private[this] def openForWriting(
      start: StartingVersion,
      forceSnapshot: Boolean,
      counts: RowCounts = new RowCounts): StateStore =
    newStore(start, StoreUsage(forceSnapshot, replacesState = false, counts))
}
