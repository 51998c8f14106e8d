package io.holdfast.surroundings

import java.util.UUID
import java.util.concurrent.Executor
import java.util.concurrent.atomic.AtomicLong

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId
import org.apache.spark.sql.execution.streaming.state.holdfast.{ActiveStores, SparkMemory}
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CheckpointFileManager

import io.holdfast.conf.HoldfastConf
import io.holdfast.objects.StateFileManagers

/** What a store does not decide for itself: the time, who works beside its tasks, the file system, how
  * much the stores beside it hold, and chance. A test gives others, and then nothing happens that it
  * does not let happen.
  *
  * @param clock
  *   the time
  * @param background
  *   runs what may take as long as a snapshot, beside tasks
  * @param readers
  *   runs what waits for files, several at a time
  * @param beside
  *   does a part of a commit of many changes, beside its task
  * @param fileManager
  *   makes the manager of the files in a folder
  * @param heldBytes
  *   heap bytes that all stores of the JVM hold together
  * @param sparkBytes
  *   heap bytes of the JVM that Spark counts itself, for cached data and operators
  * @param newAttempt
  *   a name for an attempt at a version, which no other attempt has
  * @param activity
  *   asked when a store begins: what tells whether the run of the query that it is of goes on, and has the
  *   store here
  * @param leastLimitBytes
  *   the smallest memory limit that may be set in bytes: a test that fills little memory sets less
  */
final private[holdfast] case class Surroundings(
    clock: Clock,
    background: Executor,
    readers: Executor,
    beside: Beside,
    fileManager: (Path, Configuration) => CheckpointFileManager,
    heldBytes: AtomicLong = Surroundings.HeldInThisJvm,
    sparkBytes: () => Long = () => SparkMemory.heapBytes,
    newAttempt: () => UUID = () => UUID.randomUUID(),
    activity: StateStoreProviderId => StoreActivity = ActiveStores.ofNewStore,
    leastLimitBytes: Long = HoldfastConf.LeastLimitBytes)

private[holdfast] object Surroundings {

  /** Heap bytes that all stores of this JVM hold. */
  val HeldInThisJvm = new AtomicLong(0L)

  // Few, because snapshots are asked for in all partitions at about the same time, and a batch wants
  // the processors as well.
  private val BackgroundThreads = 2

  /** How many files are read at the same time at most. */
  private val Readers = 8

  // The other half of the processors is for tasks: those that commit at the same time do all themselves
  // when there is no thread left.
  private def committers = math.max(1, Runtime.getRuntime.availableProcessors / 2)

  // What a thread writes in about a millisecond, some ten thousand small rows: to wake it, and to wait for
  // it in the end, takes a tenth of that.
  private val BytesWorthAThread = 512L << 10

  /** What stores in a Spark query have. */
  lazy val ofThisJvm: Surroundings = Surroundings(
    Clock.OfThisMachine,
    DaemonThreads("holdfast-snapshot", BackgroundThreads),
    DaemonThreads("holdfast-read-ahead", Readers),
    new Beside(DaemonThreads("holdfast-commit", committers), BytesWorthAThread),
    StateFileManagers.create)
}
