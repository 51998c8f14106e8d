package io.holdfast.surroundings

import java.util.concurrent.Executor

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CheckpointFileManager

/** What a store does not decide for itself: the time, who works beside its tasks, and the file system.
  * A test gives others, and then nothing happens that it does not let happen.
  *
  * @param clock
  *   the time
  * @param background
  *   runs what may take as long as a snapshot, beside tasks
  * @param readers
  *   runs what waits for files, several at a time
  * @param fileManager
  *   makes the manager of the files in a folder
  */
final private[holdfast] case class Surroundings(
    clock: Clock,
    background: Executor,
    readers: Executor,
    fileManager: (Path, Configuration) => CheckpointFileManager)

private[holdfast] object Surroundings {

  // Few, because snapshots are asked for in all partitions at about the same time, and a batch wants
  // the processors as well.
  private val BackgroundThreads = 2

  /** How many files are read at the same time at most. */
  private val Readers = 8

  /** What stores in a Spark query have. */
  lazy val ofThisJvm: Surroundings = Surroundings(
    Clock.OfThisMachine,
    DaemonThreads("holdfast-snapshot", BackgroundThreads),
    DaemonThreads("holdfast-read-ahead", Readers),
    CheckpointFileManager.create)
}
