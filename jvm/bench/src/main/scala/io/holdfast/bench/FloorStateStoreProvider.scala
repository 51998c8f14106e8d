package io.holdfast.bench

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType

/** A provider that keeps nothing and writes nothing, for measuring what a query costs without its
  * state. What the query says on it is wrong.
  */
final class FloorStateStoreProvider extends StateStoreProvider with Measured {
  private var storeId: StateStoreId = _

  override def init(
      stateStoreId: StateStoreId,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useColumnFamilies: Boolean,
      storeConfs: StateStoreConf,
      hadoopConf: Configuration,
      useMultipleValuesPerKey: Boolean,
      stateSchemaProvider: Option[StateSchemaProvider]): Unit = storeId = stateStoreId

  override def stateStoreId: StateStoreId = storeId

  override def close(): Unit = ()

  override def getStore(
      version: Long,
      stateStoreCkptId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean): StateStore = new FloorStore(storeId, version)
}

final private class FloorStore(override val id: StateStoreId, override val version: Long)
    extends StateStore {
  private var committed = false

  override def get(key: UnsafeRow, colFamilyName: String): UnsafeRow = null

  override def valuesIterator(key: UnsafeRow, colFamilyName: String): Iterator[UnsafeRow] =
    Iterator.empty

  override def keyExists(key: UnsafeRow, colFamilyName: String): Boolean = false

  override def multiGet(keys: Array[UnsafeRow], colFamilyName: String): Iterator[UnsafeRow] =
    Iterator.fill(keys.length)(null)

  override def put(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit = ()

  override def remove(key: UnsafeRow, colFamilyName: String): Unit = ()

  override def deleteRange(beginKey: UnsafeRow, endKey: UnsafeRow, colFamilyName: String): Unit = ()

  override def iterator(colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    new StateStoreIterator(Iterator.empty)

  override def prefixScan(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    new StateStoreIterator(Iterator.empty)

  override def rangeScan(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] = iterator(colFamilyName)

  override def prefixScanWithMultiValues(
      prefixKey: UnsafeRow,
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] = iterator(colFamilyName)

  override def iteratorWithMultiValues(colFamilyName: String): StateStoreIterator[UnsafeRowPair] =
    iterator(colFamilyName)

  override def rangeScanWithMultiValues(
      startKey: Option[UnsafeRow],
      endKey: Option[UnsafeRow],
      colFamilyName: String): StateStoreIterator[UnsafeRowPair] = iterator(colFamilyName)

  override def commit(): Long = {
    committed = true
    version + 1
  }

  override def abort(): Unit = ()

  override def release(): Unit = ()

  override def hasCommitted: Boolean = committed

  override def metrics: StateStoreMetrics = StateStoreMetrics(0L, 0L, Map.empty)

  override def getStateStoreCheckpointInfo(): StateStoreCheckpointInfo =
    StateStoreCheckpointInfo(id.partitionId, version + 1, None, None)

  override def allColumnFamilyNames: Set[String] = Set(StateStore.DEFAULT_COL_FAMILY_NAME)

  override def createColFamilyIfAbsent(
      colFamilyName: String,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean): Unit = ()

  override def removeColFamilyIfExists(colFamilyName: String): Boolean = false

  override def putList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit = ()

  override def merge(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit = ()

  override def mergeList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit = ()
}
