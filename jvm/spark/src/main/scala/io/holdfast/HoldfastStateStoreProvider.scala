package io.holdfast

import io.holdfast.file.StateFile
import io.holdfast.table.{Transaction, Version}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals
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
import org.apache.spark.sql.types.StructType

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

  private[this] var parts: Option[StoreParts] = None

  private def store: StoreParts = parts.getOrElse {
    throw new IllegalStateException(
      "HoldfastStateStoreProvider was used before init; Spark initialises a provider before use")
  }

  private[holdfast] def context: StoreContext = store.context
  private[holdfast] def memory: StoreMemory = store.memory
  private[holdfast] def metrics: HoldfastMetrics = store.metrics
  private[holdfast] def inMemory: LoadedVersions = store.inMemory

  // Two tasks that want the same version load it once.
  private[this] val loadLock = new Object

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
      StoreContext(stateStoreId, keySchema, valueSchema, order, storeConfs, hadoopConf))
    made.files.createFolder()
    parts = Some(made)
    LoadedStores.add(this)
  }

  override def stateStoreId: StateStoreId = parts.map(_.context.id).orNull

  override def getStore(
      version: Long,
      stateStoreCkptId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean): StateStore =
    if (loadEmpty) openToReplace(version, stateStoreCkptId)
    else openForWriting(open(VersionId(version, stateStoreCkptId)), forceSnapshotOnCommit)

  override def getReadStore(version: Long, uniqueId: Option[String]): ReadStateStore =
    new HoldfastReadStateStore(context, open(VersionId(version, uniqueId)))

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean): StateStore = readStore match {
    case read: HoldfastReadStateStore
        if read.opened.id == VersionId(version, uniqueId) && read.id == stateStoreId =>
      openForWriting(read.opened, forceSnapshotOnCommit)
    case _ => getStore(version, uniqueId, forceSnapshotOnCommit, loadEmpty = false)
  }

  override def supportedCustomMetrics: Seq[StateStoreCustomMetric] = HoldfastMetrics.custom

  override def supportedInstanceMetrics: Seq[StateStoreInstanceMetric] = HoldfastMetrics.instance

  override protected def snapshotMaintenance(): Unit = store.maintenance.snapshotIfDue()

  override protected def cleanupMaintenance(): Unit = store.maintenance.cleanUp()

  override def close(): Unit = parts.foreach { made =>
    LoadedStores.remove(this)
    made.inMemory.clear()
    made.memory.close()
    made.files.close()
  }

  override def replayStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long,
      readOnly: Boolean,
      snapshotVersionStateStoreCkptId: Option[String],
      endVersionStateStoreCkptId: Option[String]): StateStore = {
    val opened = replayed(
      VersionId(snapshotVersion, snapshotVersionStateStoreCkptId),
      VersionId(endVersion, endVersionStateStoreCkptId))
    openForWriting(opened, forceSnapshot = false)
  }

  override def replayReadStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long,
      snapshotVersionStateStoreCkptId: Option[String],
      endVersionStateStoreCkptId: Option[String]): ReadStateStore = {
    val opened = replayed(
      VersionId(snapshotVersion, snapshotVersionStateStoreCkptId),
      VersionId(endVersion, endVersionStateStoreCkptId))
    new HoldfastReadStateStore(context, opened)
  }

  // The records are those of Spark's provider, so Spark's own reader of changes fits.
  override def getStateStoreChangeDataReader(
      startVersion: Long,
      endVersion: Long,
      colFamilyNameOpt: Option[String],
      endVersionStateStoreCkptId: Option[String]): SparkInternals.ChangeDataReader = {
    if (colFamilyNameOpt.isDefined) {
      throw StateStoreErrors.multipleColumnFamiliesNotSupported(RowAccess.ProviderName)
    }
    val end = VersionId(endVersion, endVersionStateStoreCkptId)
    val deltas = store.files.list().deltasBetween(startVersion - 1, end)
    if (deltas.headOption.exists(_.number != startVersion)) {
      throw store.loader.missingBase(startVersion, end)
    }
    new HDFSBackedStateStoreChangeDataReader(
      context.id,
      store.files.fileManager,
      store.files.folder,
      startVersion,
      endVersion,
      store.files.codec(),
      context.keySchema,
      context.valueSchema,
      context.conf) {
      override protected val versionsAndUniqueIds: Array[(Long, Option[String])] =
        deltas.map(delta => delta.number -> delta.id).toArray
    }
  }

  override def toString: String =
    parts.fold("HoldfastStateStoreProvider[not initialised]")(_.context.toString)

  /** Makes the writable store of a version; tests put their own kind in its place. */
  protected def newStore(opened: OpenedVersion, usage: StoreUsage): StateStore =
    new HoldfastStateStore(opened, usage, this)

  /** Makes a transaction durable as a version and then visible as that version.
    *
    * @throws java.io.IOException
    *   if the file system fails; then nothing has changed
    */
  private[holdfast] def commit(
      id: VersionId,
      transaction: Transaction,
      usage: StoreUsage): CommittedVersion =
    if (usage.replacesState) commitWhole(id, transaction)
    else commitChanges(id, transaction, usage.forceSnapshot)

  // A delta says what is new beside the version before, and there is no such version.
  private[this] def commitWhole(id: VersionId, transaction: Transaction): CommittedVersion = {
    val start = System.nanoTime()
    val version = transaction.commit()
    store.commitLock.synchronized {
      store.maintenance.writeSnapshot(id, version)
      keep(id, version)
    }
    CommittedVersion(
      id,
      version,
      System.nanoTime() - start,
      deltaRecords = 0L,
      deltaBytes = 0L,
      transaction.relocatedBytes,
      transaction.compactionNanos)
  }

  private[this] def commitChanges(
      id: VersionId,
      transaction: Transaction,
      forceSnapshot: Boolean): CommittedVersion = {
    val start = System.nanoTime()
    val output = store.files.create(StateFile.Delta, id)
    try {
      transaction.foreachChange(output.records)
      store.commitLock.synchronized {
        output.finish()
        publish(id, transaction, output, forceSnapshot, start)
      }
    } catch {
      case e: Throwable =>
        output.cancel()
        throw e
    }
  }

  private[this] def publish(
      id: VersionId,
      transaction: Transaction,
      output: StateFileOutput,
      forceSnapshot: Boolean,
      start: Long): CommittedVersion = {
    val version = transaction.commit()
    store.maintenance.wroteDelta(id, output.fileBytes)
    // A snapshot that this provider wrote of an earlier attempt at the version is out of date.
    if (forceSnapshot || store.maintenance.hasSnapshot(id)) {
      store.maintenance.writeSnapshot(id, version)
    }
    keep(id, version)
    CommittedVersion(
      id,
      version,
      System.nanoTime() - start,
      output.records.records,
      output.fileBytes,
      transaction.relocatedBytes,
      transaction.compactionNanos)
  }

  private[this] def keep(id: VersionId, version: Version): Unit = {
    store.inMemory.put(id, version)
    store.memory.versionsUse(metrics.memoryUsedBytes)
    store.maintenance.used(id)
  }

  private[this] def openForWriting(opened: OpenedVersion, forceSnapshot: Boolean): StateStore =
    newStore(opened, StoreUsage(forceSnapshot, replacesState = false, metrics.takeSnapshots()))

  private[this] def openToReplace(version: Long, id: Option[String]): StateStore = {
    if (version < 0) throw SparkInternals.unexpectedVersion(version)
    if (id.isDefined) {
      throw new IllegalArgumentException(
        s"loadEmpty starts from nothing, and the checkpoint id ${id.mkString} names a version " +
          s"$version to start from; leave one of them out")
    }
    val nothing = OpenedVersion.inMemory(VersionId(version, None), context.empty, System.nanoTime())
    newStore(
      nothing,
      StoreUsage(forceSnapshot = true, replacesState = true, metrics.takeSnapshots()))
  }

  private[this] def open(id: VersionId): OpenedVersion = {
    val start = System.nanoTime()
    if (id.number < 0) throw SparkInternals.unexpectedVersion(id.number)
    else if (id.number == 0) OpenedVersion.inMemory(id, context.empty, start)
    else fromMemory(id, start).getOrElse(load(id, start))
  }

  private[this] def fromMemory(id: VersionId, start: Long): Option[OpenedVersion] =
    inMemory.get(id).map { rows =>
      metrics.hit()
      OpenedVersion.inMemory(id, rows, start)
    }

  private[this] def load(id: VersionId, start: Long): OpenedVersion = loadLock.synchronized {
    fromMemory(id, start).getOrElse {
      metrics.miss()
      val loaded = loading(store.loader.load(id))
      keep(id, loaded.version)
      store.maintenance.reportSnapshot(loaded.snapshot)
      val opened = OpenedVersion.fromFiles(id, loaded, start)
      logInfo(
        s"Loaded version $id of $context from version ${loaded.snapshot} and " +
          s"${loaded.replayedFiles} deltas in ${opened.openNanos / 1000000L} ms")
      opened
    }
  }

  private[this] def replayed(snapshot: VersionId, end: VersionId): OpenedVersion = {
    val start = System.nanoTime()
    if (snapshot.number < 1) throw SparkInternals.unexpectedVersion(snapshot.number)
    if (end.number < snapshot.number) throw SparkInternals.unexpectedVersion(end.number)
    OpenedVersion.fromFiles(end, loading(store.loader.loadFrom(snapshot, end)), start)
  }

  private[this] def loading[A](load: => A): A =
    try load
    catch {
      case e: OutOfMemoryError => throw SparkInternals.notEnoughMemory(context.id.toString, e)
      case e: Throwable => throw StateStoreErrors.cannotLoadStore(e)
    }
}

private[holdfast] object HoldfastStateStoreProvider {

  /** Refuses what Holdfast does not do, before anything is touched. */
  private def checkSupported(columnFamilies: Boolean, multipleValues: Boolean): Unit = {
    if (columnFamilies) {
      throw StateStoreErrors.multipleColumnFamiliesNotSupported(RowAccess.ProviderName)
    }
    if (multipleValues) throw RowAccess.unsupported("multipleValuesPerKey")
  }
}

/** The parts of an initialised provider. */
final private[holdfast] class StoreParts(val context: StoreContext) {

  // Finished files and published versions follow the same order, so that the last attempt at a
  // version wins in the folder and in memory alike.
  val commitLock = new Object

  val files = new StateFiles(context)
  val inMemory = new LoadedVersions(context.conf.maxVersionsToRetainInMemory)
  val metrics = new HoldfastMetrics(context, inMemory)
  val memory = new StoreMemory(context.toString, context.holdfastConf.memoryLimitBytes)
  val loader = new VersionLoader(context, files, inMemory, memory)
  val maintenance = new StoreMaintenance(context, files, inMemory, metrics, commitLock)
}
