package io.holdfast.store

import java.util.concurrent.atomic.AtomicLong

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreId}
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StreamExecution
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{LongType, StructType}

import io.holdfast.checkpoint.VersionId
import io.holdfast.conf.StoreContext
import io.holdfast.races.{MemoryFiles, WaitingWork}
import io.holdfast.rows.RowCounts
import io.holdfast.surroundings.{Beside, Clock, Surroundings}
import io.holdfast.table.{RowRecord, Rows, Version}
import io.holdfast.versions.StoreUsage

/** The parts of a store, over files in memory, with one row whose value is what a version holds. What it
  * gives to other threads waits until somebody takes it. Any thread may call.
  */
final class RacingStore(val files: MemoryFiles = new MemoryFiles) {
  import RacingStore._

  private val threads = new WaitingWork

  val held = new AtomicLong

  val parts = new StoreParts(
    context,
    Surroundings(
      StoppedClock,
      background = threads,
      readers = threads,
      new Beside(threads, worthFrom = 0L),
      (_, _) => files,
      held,
      sparkBytes = () => 0L))

  /** Makes a version of the one before it, as a task does. */
  def commit(version: Int, value: Int, snapshot: Boolean = false): Unit = {
    val start = parts.versions.open(id(version - 1))
    val memory = parts.memory.newUse()
    val rows = start.rows.open(memory)
    val use = parts.inUse.use(start.rows)
    try {
      rows.put(key, 0, key.length, Array.fill(8)(value.toByte), 0, 8)
      val _ = parts.versions
        .commit(id(version), rows, StoreUsage(snapshot, replacesState = false, new RowCounts))
    } finally {
      rows.abort()
      memory.end()
      use.close()
    }
  }

  /** Begins a version and gives it up. */
  def abort(version: Int): Unit = {
    val start = parts.versions.open(id(version - 1))
    val memory = parts.memory.newUse()
    val rows = start.rows.open(memory)
    val use = parts.inUse.use(start.rows)
    rows.put(key, 0, key.length, Array.fill(8)(-1), 0, 8)
    rows.abort()
    memory.end()
    use.close()
  }

  /** What a version holds. */
  def read(version: Int): Int = {
    val start = parts.versions.open(id(version))
    val use = parts.inUse.use(start.rows)
    try valueIn(start.rows)
    finally use.close()
  }

  /** A thread takes something of what waits, if anything does. */
  def work(): Unit = threads.takeOne()

  /** Threads do all that waits. */
  def workOff(): Unit = threads.takeAll()
}

object RacingStore {

  /** The version of so many batches. */
  def id(number: Int): VersionId = VersionId(number.toLong, None)

  private val key = new Array[Byte](8)

  private def valueIn(version: Version): Int = {
    val row = version.find(key, 0, key.length)
    if (row == Rows.Absent) -1
    else {
      val page = version.page(row)
      page(RowRecord.valueOffset(page, Rows.offset(row))).toInt
    }
  }

  private object StoppedClock extends Clock {
    override def millis: Long = 0L
    override def nanos: Long = 0L
  }

  // One version stays in memory, so that others are loaded; and snapshots come as often as they may.
  private val context: StoreContext = {
    val conf = new SQLConf
    Seq(
      "spark.sql.streaming.stateStore.minDeltasForSnapshot" -> "1",
      "spark.sql.streaming.stateStore.formatValidation.enabled" -> "false",
      "spark.sql.streaming.stateStore.rowChecksum.enabled" -> "false",
      "spark.sql.streaming.checkpoint.fileChecksum.enabled" -> "false",
      "spark.sql.streaming.stateStore.compression.codec" -> "lz4",
      "spark.sql.streaming.maxBatchesToRetainInMemory" -> "1",
      "spark.sql.streaming.minBatchesToRetain" -> "2").foreach { case (name, value) =>
      conf.setConfString(name, value)
    }
    StoreContext(
      StateStoreId("memory:///store", 0L, 0),
      new StructType().add("key", LongType),
      new StructType().add("value", LongType),
      order = None,
      new StateStoreConf(conf), {
        val hadoop = new Configuration(false)
        hadoop.set(StreamExecution.RUN_ID_KEY, "00000000-0000-0000-0000-000000000001")
        hadoop
      })
  }
}
