package io.holdfast

import org.apache.hadoop.conf.Configuration
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.{
  HDFSBackedStateStoreChangeDataReader,
  KeyStateEncoderSpec,
  ReadStateStore,
  StateSchemaProvider,
  StateStore,
  StateStoreConf,
  StateStoreCustomMetric,
  StateStoreErrors,
  StateStoreId,
  StateStoreInstanceMetric,
  SupportsFineGrainedReplay
}
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals
import org.apache.spark.sql.types.StructType

import io.holdfast.checkpoint.VersionId
import io.holdfast.conf.StoreContext
import io.holdfast.metrics.HoldfastMetrics
import io.holdfast.rows.{RowCounts, ScanOrder, Unsupported}
import io.holdfast.session.FitsThisSpark
import io.holdfast.store.{
  HoldfastReadStateStore,
  HoldfastStateStore,
  MaintainedProvider,
  OpenStores,
  ReadOnlyReplay,
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
    with MaintainedProvider
    with SupportsFineGrainedReplay
    with Logging {

  @volatile private[this] var parts: Option[StoreParts] = None

  private[holdfast] def store: StoreParts = parts.getOrElse {
    throw new IllegalStateException(
      "HoldfastStateStoreProvider was used before init; Spark initialises a provider before use")
  }

  override def init(
      stateStoreId: StateStoreId,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useColumnFamilies: Boolean,
      storeConfs: StateStoreConf,
      hadoopConf: Configuration,
      useMultipleValuesPerKey: Boolean,
      stateSchemaProvider: Option[StateSchemaProvider]): Unit = {
    HoldfastStateStoreProvider.checkSupported(useColumnFamilies, useMultipleValuesPerKey)
    val order = ScanOrder.of(keyStateEncoderSpec)
    val made = new StoreParts(
      StoreContext(stateStoreId, keySchema, valueSchema, order, storeConfs, hadoopConf),
      surroundings)
    parts = Some(made)
    OpenStores.add(made)
  }

  override def stateStoreId: StateStoreId = parts.map(_.context.id).orNull

  override def getStore(
      version: Long,
      stateStoreCkptId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean): StateStore =
    if (loadEmpty) openToReplace(version, stateStoreCkptId)
    else
      openForWriting(opened(store, version, stateStoreCkptId), forceSnapshotOnCommit)

  override def getReadStore(version: Long, uniqueId: Option[String]): ReadStateStore = {
    val parts = store
    new HoldfastReadStateStore(opened(parts, version, uniqueId), parts)
  }

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean): StateStore = readStore match {
    case read: HoldfastReadStateStore
        if read.start.id == VersionId(version, uniqueId) && read.id == stateStoreId =>
      openForWriting(read.start, forceSnapshotOnCommit, read.counts)
    case _ => getStore(version, uniqueId, forceSnapshotOnCommit, loadEmpty = false)
  }

  override def supportedCustomMetrics: Seq[StateStoreCustomMetric] = HoldfastMetrics.custom

  override def supportedInstanceMetrics: Seq[StateStoreInstanceMetric] = HoldfastMetrics.instance

  override protected def snapshotMaintenance(): Unit = store.snapshots.run()

  override protected def cleanupMaintenance(): Unit = store.cleanup.run()

  override def close(): Unit = parts.foreach { made =>
    OpenStores.remove(made)
    made.close()
  }

  override def replayStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long,
      readOnly: Boolean,
      snapshotVersionStateStoreCkptId: Option[String],
      endVersionStateStoreCkptId: Option[String]): StateStore = {
    ReadOnlyReplay.check(readOnly)
    val start = store.versions.replayed(
      VersionId(snapshotVersion, snapshotVersionStateStoreCkptId),
      VersionId(endVersion, endVersionStateStoreCkptId))
    openForWriting(start, forceSnapshot = false)
  }

  override def replayReadStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long,
      snapshotVersionStateStoreCkptId: Option[String],
      endVersionStateStoreCkptId: Option[String]): ReadStateStore = {
    val start = store.versions.replayed(
      VersionId(snapshotVersion, snapshotVersionStateStoreCkptId),
      VersionId(endVersion, endVersionStateStoreCkptId))
    new HoldfastReadStateStore(start, store)
  }

  // The records are those of Spark's provider, so Spark's own reader of changes fits.
  override def getStateStoreChangeDataReader(
      startVersion: Long,
      endVersion: Long,
      colFamilyNameOpt: Option[String],
      endVersionStateStoreCkptId: Option[String]): SparkInternals.ChangeDataReader = {
    if (colFamilyNameOpt.isDefined) {
      throw StateStoreErrors.multipleColumnFamiliesNotSupported(Unsupported.ProviderName)
    }
    val end = VersionId(endVersion, endVersionStateStoreCkptId)
    val deltas = store.files.list().deltasBetween(startVersion - 1, end)
    if (deltas.headOption.exists(_.number != startVersion)) {
      throw store.loader.missingBase(startVersion, end)
    }
    new HDFSBackedStateStoreChangeDataReader(
      store.context.id,
      store.files.fileManager,
      store.files.folder,
      startVersion,
      endVersion,
      store.files.codec(),
      store.context.keySchema,
      store.context.valueSchema,
      store.context.conf) {
      override protected val versionsAndUniqueIds: Array[(Long, Option[String])] =
        deltas.map(delta => delta.number -> delta.id).toArray
    }
  }

  override def toString: String =
    parts.fold("HoldfastStateStoreProvider[not initialised]")(_.context.toString)

  /** What the store is given from outside; tests give others. Asked for once, in `init`. */
  private[holdfast] def surroundings: Surroundings = Surroundings.ofThisJvm

  /** Makes the writable store of a version; tests put their own kind in its place. */
  protected def newStore(start: StartingVersion, usage: StoreUsage): StateStore =
    new HoldfastStateStore(start, usage, store)

  private[this] def opened(parts: StoreParts, version: Long, id: Option[String]): StartingVersion =
    parts.versions.open(VersionId(version, id), parts.hints.of(version).flatMap(_.eventTime))

  private[this] def openForWriting(
      start: StartingVersion,
      forceSnapshot: Boolean,
      counts: RowCounts = new RowCounts): StateStore =
    newStore(start, StoreUsage(forceSnapshot, replacesState = false, counts))

  private[this] def openToReplace(version: Long, id: Option[String]): StateStore = {
    if (version < 0) throw SparkInternals.unexpectedVersion(version)
    if (id.isDefined) {
      throw new IllegalArgumentException(
        s"loadEmpty starts from nothing, and the checkpoint id ${id.mkString} names a version " +
          s"$version to start from; leave one of them out")
    }
    newStore(
      store.versions.nothing(version),
      StoreUsage(forceSnapshot = true, replacesState = true, new RowCounts))
  }
}

private[holdfast] object HoldfastStateStoreProvider {

  /** Refuses what Holdfast does not do, before anything is touched. */
  private def checkSupported(columnFamilies: Boolean, multipleValues: Boolean): Unit = {
    if (columnFamilies) {
      throw StateStoreErrors.multipleColumnFamiliesNotSupported(Unsupported.ProviderName)
    }
    if (multipleValues) throw Unsupported.unsupported("multipleValuesPerKey")
  }
}
