package io.holdfast.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  StateStoreCheckpointInfo
}
import org.apache.spark.sql.types.StructType

import io.holdfast.families.FamilyWriter
import io.holdfast.rows.Unsupported

/** Writing as Spark asks for it from 4.0 on: by the name of a column family, of which most stores have
  * the default one alone, and with ids of versions.
  */
private[holdfast] trait FamilyWrites extends RowChanges with ReadCalls {

  override def put(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit = {
    val family = writerOf("put", colFamilyName)
    if (family == null) putRow(key, value)
    else {
      require(value != null, "Cannot put a null value")
      family.put(key, value)
    }
  }

  override def remove(key: UnsafeRow, colFamilyName: String): Unit = {
    val family = writerOf("remove", colFamilyName)
    if (family == null) removeRow(key) else family.remove(key)
  }

  override def merge(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit =
    change("merge", key, Array(value), colFamilyName, append = true)

  /** Changes the list of a key. */
  final protected def change(
      operation: String,
      key: UnsafeRow,
      values: Array[UnsafeRow],
      colFamilyName: String,
      append: Boolean): Unit = {
    val family = writerOf(operation, colFamilyName)
    if (family == null) throw Unsupported.unsupported(operation)
    require(values != null && !values.contains(null), s"Cannot $operation a null value")
    family.change(operation, key, values, append)
  }

  /** What changes the rows of a column family; null in stores that have the default one alone.
    *
    * @param operation
    *   what it is asked for, in messages
    * @throws java.lang.IllegalStateException
    *   if the store was committed or aborted
    * @throws org.apache.spark.SparkUnsupportedOperationException
    *   if there is no such family
    */
  protected def writerOf(operation: String, colFamilyName: String): FamilyWriter = {
    Unsupported.checkColumnFamily(colFamilyName)
    null
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
}
