package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  StateStoreCheckpointInfo
}
import org.apache.spark.sql.types.StructType

import io.holdfast.rows.Unsupported

/** Writing as Spark asks for it from 4.0 on: by the name of a column family, of which there is the
  * default one, and with ids of versions.
  */
private[holdfast] trait FamilyWrites extends RowChanges with ReadCalls {

  override def put(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit = {
    Unsupported.checkColumnFamily(colFamilyName)
    putRow(key, value)
  }

  override def remove(key: UnsafeRow, colFamilyName: String): Unit = {
    Unsupported.checkColumnFamily(colFamilyName)
    removeRow(key)
  }

  override def getStateStoreCheckpointInfo(): StateStoreCheckpointInfo =
    StateStoreCheckpointInfo(id.partitionId, next.number, next.id, base.id)

  override def createColFamilyIfAbsent(
      colFamilyName: String,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean): Unit = throw Unsupported.columnFamilies

  override def removeColFamilyIfExists(colFamilyName: String): Boolean =
    throw Unsupported.removalOfColumnFamilies

  override def merge(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit =
    throw Unsupported.unsupported("merge")
}
