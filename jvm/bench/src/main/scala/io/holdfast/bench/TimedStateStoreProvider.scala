package io.holdfast.bench

import java.util.concurrent.atomic.LongAdder

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.execution.streaming.state.holdfast.TimedRocksDb
import org.apache.spark.sql.types.StructType

import io.holdfast.HoldfastStateStoreProvider
import io.holdfast.transform.TakenForHoldfast

/** A provider whose stores tell how long tasks are in their calls: open, `get`, `put`, `remove`,
  * iterators, `commit` with its report to Spark's coordinator, and metrics. What the queries of
  * [[RunningQuery]] do not call is refused.
  */
sealed abstract class TimedStateStoreProvider(provider: StateStoreProvider)
    extends StateStoreProvider
    with Measured {
  import TimedStateStoreProvider.timed

  override def init(
      stateStoreId: StateStoreId,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useColumnFamilies: Boolean,
      storeConfs: StateStoreConf,
      hadoopConf: Configuration,
      useMultipleValuesPerKey: Boolean,
      stateSchemaProvider: Option[StateSchemaProvider]): Unit = provider.init(
    stateStoreId,
    keySchema,
    valueSchema,
    keyStateEncoderSpec,
    useColumnFamilies,
    storeConfs,
    hadoopConf,
    useMultipleValuesPerKey,
    stateSchemaProvider)

  override def stateStoreId: StateStoreId = provider.stateStoreId

  override def close(): Unit = provider.close()

  override def doMaintenance(): Unit = provider.doMaintenance()

  override def supportedCustomMetrics: Seq[StateStoreCustomMetric] = provider.supportedCustomMetrics

  override def supportedInstanceMetrics: Seq[StateStoreInstanceMetric] =
    provider.supportedInstanceMetrics

  override def getStore(
      version: Long,
      stateStoreCkptId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean): StateStore = timed {
    new TimedStore(provider.getStore(version, stateStoreCkptId, forceSnapshotOnCommit, loadEmpty))
  }

  override def getReadStore(version: Long, uniqueId: Option[String]): ReadStateStore = timed {
    new TimedReadStore(provider.getReadStore(version, uniqueId))
  }

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean): StateStore = timed {
    val read = readStore.asInstanceOf[TimedReadStore].store
    new TimedStore(
      provider.upgradeReadStoreToWriteStore(read, version, uniqueId, forceSnapshotOnCommit))
  }
}

/** What `transformWithState` takes to measure it, where Spark takes RocksDB's provider alone. */
trait Measured extends TakenForHoldfast

final class TimedHoldfast extends TimedStateStoreProvider(new HoldfastStateStoreProvider)

final class TimedHdfs
    extends TimedStateStoreProvider(StateStoreProvider.create(Peer.named("hdfs").providerClass))

object TimedStateStoreProvider {
  private val nanos = new LongAdder
  private val inCommits = new LongAdder
  private val walks = new LongAdder

  /** The same provider, timed. */
  def of(peer: Peer): Peer = peer.copy(providerClass = peer.name match {
    case "holdfast" => classOf[TimedHoldfast].getName
    case "hdfs" => classOf[TimedHdfs].getName
    case "rocksdb" | "rocksdb-join-4" => classOf[TimedRocksDb].getName
    case other => throw new IllegalArgumentException(s"$other is not timed")
  })

  /** Nanoseconds in calls since the last time, of all stores of this JVM together. */
  def takeNanos(): Long = nanos.sumThenReset()

  /** The same of commits alone. */
  def takeCommitNanos(): Long = inCommits.sumThenReset()

  /** Nanoseconds from the beginning of walks over stores to their end, since the last time: also those
    * of what the operators did meanwhile.
    */
  def takeWalkNanos(): Long = walks.sumThenReset()

  /** A store of a provider whose own class Spark asks for, timed from its opening on. */
  def open(store: => StateStore): StateStore = timed(new TimedStore(store))

  /** A store that [[open]] returned, as its provider knows it. */
  def providersOwn(store: ReadStateStore): ReadStateStore = store.asInstanceOf[TimedStore].store

  private[bench] def walked(inCalls: Long, inAll: Long): Unit = {
    nanos.add(inCalls)
    walks.add(inAll)
  }

  private[bench] def timedCommit[A](call: => A): A = {
    val start = System.nanoTime()
    val result = timed(call)
    inCommits.add(System.nanoTime() - start)
    result
  }

  private[bench] def timed[A](call: => A): A = {
    val start = System.nanoTime()
    val result = call
    nanos.add(System.nanoTime() - start)
    result
  }

  private[bench] def notTimed: Nothing =
    throw new UnsupportedOperationException("this call is not timed")
}

/** The calls that read. */
sealed private trait TimedReads extends ReadStateStore {
  import TimedStateStoreProvider.timed

  def store: ReadStateStore

  override def id: StateStoreId = store.id

  override def version: Long = store.version

  override def get(key: UnsafeRow, colFamilyName: String): UnsafeRow =
    timed(store.get(key, colFamilyName))

  override def keyExists(key: UnsafeRow, colFamilyName: String): Boolean =
    timed(store.keyExists(key, colFamilyName))

  override def multiGet(keys: Array[UnsafeRow], colFamilyName: String): Iterator[UnsafeRow] =
    timedRows(store.multiGet(keys, colFamilyName))

  override def abort(): Unit = timed(store.abort())

  override def allColumnFamilyNames: Set[String] = store.allColumnFamilyNames

  override def iterator(colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    TimedRows.of(store.iterator(colFamilyName))

  override def iteratorWithMultiValues(colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    TimedRows.of(store.iteratorWithMultiValues(colFamilyName))

  override def valuesIterator(key: UnsafeRow, colFamilyName: String): Iterator[UnsafeRow] =
    timedRows(store.valuesIterator(key, colFamilyName))

  override def prefixScan(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    TimedRows.of(store.prefixScan(prefixKey, colFamilyName))

  override def rangeScan(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    TimedRows.of(store.rangeScan(startKey, endKey, colFamilyName))

  override def prefixScanWithMultiValues(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    TimedRows.of(store.prefixScanWithMultiValues(prefixKey, colFamilyName))

  override def rangeScanWithMultiValues(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    TimedRows.of(store.rangeScanWithMultiValues(startKey, endKey, colFamilyName))

  private def timedRows(read: => Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
    val rows = timed(read)
    new Iterator[UnsafeRow] {
      override def hasNext: Boolean = timed(rows.hasNext)
      override def next(): UnsafeRow = timed(rows.next())
    }
  }
}

final private class TimedReadStore(override val store: ReadStateStore) extends TimedReads {
  override def release(): Unit = TimedStateStoreProvider.timed(store.release())
}

final private class TimedStore(override val store: StateStore) extends StateStore with TimedReads {
  import TimedStateStoreProvider.{notTimed, timed, timedCommit}

  override def put(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit =
    timed(store.put(key, value, colFamilyName))

  override def remove(key: UnsafeRow, colFamilyName: String): Unit =
    timed(store.remove(key, colFamilyName))

  override def deleteRange(beginKey: UnsafeRow, endKey: UnsafeRow, colFamilyName: String): Unit =
    timed(store.deleteRange(beginKey, endKey, colFamilyName))

  override def commit(): Long = timedCommit(store.commit())

  override def release(): Unit = timed(store.release())

  override def hasCommitted: Boolean = store.hasCommitted

  override def metrics: StateStoreMetrics = timed(store.metrics)

  override def getStateStoreCheckpointInfo(): StateStoreCheckpointInfo =
    store.getStateStoreCheckpointInfo()

  override def createColFamilyIfAbsent(
      colFamilyName: String,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean): Unit = timed {
    store.createColFamilyIfAbsent(
      colFamilyName,
      keySchema,
      valueSchema,
      keyStateEncoderSpec,
      useMultipleValuesPerKey,
      isInternal)
  }

  override def removeColFamilyIfExists(colFamilyName: String): Boolean = notTimed

  override def putList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    timed(store.putList(key, values, colFamilyName))

  override def merge(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit =
    timed(store.merge(key, value, colFamilyName))

  override def mergeList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    timed(store.mergeList(key, values, colFamilyName))
}
