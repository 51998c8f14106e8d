package io.holdfast.store

import org.apache.spark.TaskContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStoreMetrics
import org.apache.spark.sql.execution.streaming.state.holdfast.CommitReports

import io.holdfast.checkpoint.{CheckpointIds, VersionId}
import io.holdfast.conf.StoreContext
import io.holdfast.eviction.EvictionHint.{LookedInto, OwnTimes, TimesOf}
import io.holdfast.file.StateFile
import io.holdfast.memory.StoreMemory
import io.holdfast.rows.{RowBytes, RowCounts, RowIterator, RowReader}
import io.holdfast.table.{EvictionCursor, Tables, Transaction}
import io.holdfast.versions.{CommittedVersion, StartingVersion, StoreUsage}

/** A version for making the next one: Spark's `StateStore` over a transaction of the engine.
  *
  * For the task's thread, as all Spark's stores. A store that is neither committed nor aborted when
  * its task ends is aborted then.
  *
  * @param start
  *   the version that the changes start from
  * @param store
  *   where a commit goes
  */
private[holdfast] class HoldfastStateStore(
    start: StartingVersion,
    usage: StoreUsage,
    store: StoreParts)
    extends WriteCalls
    with Logging {
  import HoldfastStateStore._

  protected val context: StoreContext = store.context
  final override protected val base: VersionId = start.id
  final override protected val next: VersionId =
    base.next(
      if (CheckpointIds.areGiven(context.conf)) Some(store.surroundings.newAttempt()) else None)
  private[this] val memory = store.memory.newUse()
  private[this] val task = TaskContext.get()
  private[this] val hint = store.hints.of(start.id.number)
  private[this] val early =
    if (context.families.isDefined || usage.replacesState) None
    else Some(new EarlyDelta(store.files, next, store.surroundings.beside))
  final protected val transaction: Transaction =
    start.rows.open(memory, hint.flatMap(_.eventTime), early)
  final protected val walks: StoreMemory#Use = store.memory.newUse()
  protected val reader = new RowReader(context.format, transaction, usage.counts, walks)
  private[this] val snapshots = store.metrics.takeSnapshots()
  private[this] val rowChecksums = context.format.checksums
  private[this] val keyBytes = new RowBytes
  private[this] val valueBytes = new RowBytes
  @volatile private[this] var state: State = Updating
  private[this] var committed: Option[CommittedVersion] = None
  // Last of all that may fail: nobody would end it.
  private[this] val use = store.inUse.use(start.rows)
  // Spark may close the provider meanwhile.
  private[this] val filesUse = store.files.use()

  Option(task).foreach(_.addTaskCompletionListener[Unit] { _ =>
    if (state == Updating) abort()
    ended()
  })
  hint.foreach {
    case _: LookedInto => StoresOfTask.add(task, context.providerId, this)
    case _ =>
  }

  override def version: Long = start.id.number

  final override protected def putRow(key: UnsafeRow, value: UnsafeRow): Unit = {
    require(value != null, "Cannot put a null value")
    checkUpdating("put")
    usage.counts.puts += 1
    keyBytes.set(key)
    if (rowChecksums) valueBytes.setWithChecksum(value, keyBytes) else valueBytes.set(value)
    transaction.put(
      keyBytes.bytes,
      keyBytes.offset,
      keyBytes.length,
      valueBytes.bytes,
      valueBytes.offset,
      valueBytes.length + context.format.trailerBytes)
  }

  /** All rows; or where the batch has said what its operator will remove, rows among which those are
    * ([[io.holdfast.eviction.OperatorHints]]).
    */
  override protected def walk(): RowIterator = {
    val expired = hint match {
      case Some(OwnTimes(at, threshold, countedBy)) =>
        val counts = countedBy.flatMap(beside).fold(usage.counts)(_.counts)
        Some(reader.iteratorUpTo(at, threshold, counts))
      case Some(TimesOf(name, threshold)) =>
        for {
          other <- beside(name)
          rows <- other.upTo(threshold)
          keys <- reader.iteratorOfKeys(rows, other.counts)
        } yield keys
      case _ =>
        WalksWithoutHint.OfThisJvm.begun(context, transaction)
        None
    }
    expired.getOrElse(reader.iterator())
  }

  // What the other store of a side of a join has of this batch.
  private[this] def beside(name: String): Option[HoldfastStateStore] =
    StoresOfTask
      .find(task, context.providerId.copy(storeId = id.copy(storeName = name)))
      .filter(_.version == version)

  private def upTo(threshold: Long): Option[EvictionCursor] =
    hint.flatMap(_.eventTime).map(transaction.cursorUpTo(_, threshold, walks))

  final protected def counts: RowCounts = usage.counts

  final override protected def removeRow(key: UnsafeRow): Unit = {
    checkUpdating("remove")
    usage.counts.removes += 1
    keyBytes.set(key)
    transaction.remove(keyBytes.bytes, keyBytes.offset, keyBytes.length)
  }

  override def commit(): Long =
    try {
      checkUpdating("commit")
      val made = store.versions.commit(next, transaction, usage, early)
      committed = Some(made)
      state = Committed
      ended()
      logInfo(
        s"Committed version $next of $context: changes=${made.deltaRecords} " +
          s"bytes=${made.deltaBytes} ms=${made.times.total / 1000000L} rows=$keyCount " +
          s"memory=${made.version.heldBytes}")
      CommitReports.committed(next.number, id, context.conf, context.hadoopConf)
      next.number
    } catch {
      case e: Throwable =>
        val delta = store.files.path(StateFile.Delta, next)
        throw store.failures.cannotCommit(next, toString, delta, e)
    }

  // What is committed stays committed: Spark also aborts stores that have nothing left to abort.
  override def abort(): Unit =
    if (state == Updating) {
      state = Aborted
      // Nobody tells the delta anything when the transaction has ended.
      try transaction.abort()
      finally {
        try early.foreach(_.giveUp())
        finally ended()
      }
      logInfo(s"Aborted version $next of $context")
    }

  private[this] def ended(): Unit = {
    memory.end()
    walks.end()
    use.close()
    filesUse.close()
  }

  override def hasCommitted: Boolean = state == Committed

  override def metrics: StateStoreMetrics =
    store.metrics
      .report(start, usage, snapshots, committed, transaction, keyCount, store.memory.isNearLimit)

  private[this] def keyCount: Long =
    context.keyCount(committed.fold[Tables](transaction)(_.version))

  override def toString: String = context.describe("HoldfastStateStore", Some(version))

  final override protected def checkUpdating(operation: String): Unit =
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
