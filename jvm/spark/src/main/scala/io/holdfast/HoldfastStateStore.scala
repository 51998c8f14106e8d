package io.holdfast

import io.holdfast.file.RowChecksum
import org.apache.spark.TaskContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  StateStore,
  StateStoreCheckpointInfo,
  StateStoreErrors,
  StateStoreMetrics
}
import org.apache.spark.sql.types.StructType

/** A version for making the next one: Spark's `StateStore` over a transaction of the engine.
  *
  * For the task's thread, as all Spark's stores. A store that is neither committed nor aborted when
  * its task ends is aborted then.
  *
  * @param opened
  *   the version that the changes start from
  * @param provider
  *   where a commit goes
  */
private[holdfast] class HoldfastStateStore(
    opened: OpenedVersion,
    usage: StoreUsage,
    provider: HoldfastStateStoreProvider)
    extends StateStore
    with RowAccess
    with Logging {
  import HoldfastStateStore._

  protected val context: StoreContext = provider.context
  private[this] val next = opened.id.next(context.conf.enableStateStoreCheckpointIds)
  private[this] val memory = provider.memory.ofTransaction()
  private[this] val transaction = opened.rows.open(memory)
  protected val reader = new RowReader(context, transaction)
  private[this] val rowChecksums = context.conf.rowChecksumEnabled
  private[this] val keyBytes = new RowBytes
  private[this] val valueBytes = new RowBytes
  @volatile private[this] var state: State = Updating
  private[this] var committed: Option[CommittedVersion] = None

  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit] { _ =>
    if (state == Updating) abort()
  })

  override def version: Long = opened.id.number

  override def put(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit = {
    RowAccess.checkColumnFamily(colFamilyName)
    require(value != null, "Cannot put a null value")
    checkUpdating("put")
    keyBytes.set(key)
    if (rowChecksums) setWithChecksum(value) else valueBytes.set(value)
    val trailer = if (rowChecksums) RowChecksum.TrailerBytes else 0
    transaction.put(
      keyBytes.bytes,
      keyBytes.offset,
      keyBytes.length,
      valueBytes.bytes,
      valueBytes.offset,
      valueBytes.length + trailer)
  }

  override def remove(key: UnsafeRow, colFamilyName: String): Unit = {
    RowAccess.checkColumnFamily(colFamilyName)
    checkUpdating("remove")
    keyBytes.set(key)
    transaction.remove(keyBytes.bytes, keyBytes.offset, keyBytes.length)
  }

  override def commit(): Long =
    try {
      checkUpdating("commit")
      committed = Some(provider.commit(next, transaction, usage))
      state = Committed
      memory.end()
      logInfo(s"Committed version $next of $context")
      if (context.conf.commitValidationEnabled) {
        StateStore.reportCommitToCoordinator(next.number, id, context.hadoopConf)
      }
      next.number
    } catch {
      case e: Throwable => throw SparkInternals.cannotCommit(toString, e)
    }

  // What is committed stays committed: Spark also aborts stores that have nothing left to abort.
  override def abort(): Unit =
    if (state == Updating) {
      state = Aborted
      transaction.abort()
      memory.end()
      logInfo(s"Aborted version $next of $context")
    }

  override def hasCommitted: Boolean = state == Committed

  override def metrics: StateStoreMetrics =
    provider.metrics.report(opened, usage, committed, transaction)

  override def getStateStoreCheckpointInfo(): StateStoreCheckpointInfo =
    StateStoreCheckpointInfo(id.partitionId, next.number, next.id, opened.id.id)

  override def createColFamilyIfAbsent(
      colFamilyName: String,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean): Unit =
    throw StateStoreErrors.multipleColumnFamiliesNotSupported(RowAccess.ProviderName)

  override def removeColFamilyIfExists(colFamilyName: String): Boolean =
    throw StateStoreErrors.removingColumnFamiliesNotSupported(RowAccess.ProviderName)

  override def putList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    throw RowAccess.unsupported("putList")

  override def merge(key: UnsafeRow, value: UnsafeRow, colFamilyName: String): Unit =
    throw RowAccess.unsupported("merge")

  override def mergeList(key: UnsafeRow, values: Array[UnsafeRow], colFamilyName: String): Unit =
    throw RowAccess.unsupported("mergeList")

  override def deleteRange(beginKey: UnsafeRow, endKey: UnsafeRow, colFamilyName: String): Unit = {
    RowAccess.checkColumnFamily(colFamilyName)
    checkUpdating("deleteRange")
    reader.rangeScan(Some(beginKey), Some(endKey)).foreach(pair => remove(pair.key, colFamilyName))
  }

  override def toString: String = context.describe("HoldfastStateStore", Some(version))

  private[this] def setWithChecksum(value: UnsafeRow): Unit = {
    valueBytes.copyWithRoom(value, RowChecksum.TrailerBytes)
    val checksum = RowChecksum.of(
      keyBytes.bytes,
      keyBytes.offset,
      keyBytes.length,
      valueBytes.bytes,
      0,
      valueBytes.length)
    RowChecksum.putTrailer(valueBytes.bytes, valueBytes.length, checksum)
  }

  private[this] def checkUpdating(operation: String): Unit =
    if (state != Updating) {
      throw new IllegalStateException(
        s"Cannot $operation after already committed or aborted: $this is $state. Get a new store " +
          "from the provider")
    }
}

private[holdfast] object HoldfastStateStore {
  sealed private trait State
  private case object Updating extends State
  private case object Committed extends State
  private case object Aborted extends State
}
