package io.holdfast.sim.run

import scala.annotation.nowarn

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, PathFilter}
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.{
  CancellableFSDataOutputStream,
  CheckpointFileManager
}

/** The simulated files for Spark's own provider, which makes its manager by the name of the class. */
@nowarn("cat=unused-params")
final class SparksFileManager(path: Path, hadoopConf: Configuration) extends CheckpointFileManager {
  private[this] val files = SparksFileManager.current

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream =
    files.createAtomic(path, overwriteIfPossible)

  override def open(path: Path): FSDataInputStream = files.open(path)
  override def list(path: Path, filter: PathFilter): Array[FileStatus] = files.list(path, filter)
  override def mkdirs(path: Path): Unit = files.mkdirs(path)
  override def exists(path: Path): Boolean = files.exists(path)
  override def delete(path: Path): Unit = files.delete(path)
  override def isLocal: Boolean = false
  override def createCheckpointDirectory(): Path = files.createCheckpointDirectory()
}

object SparksFileManager {

  // One history at a time is simulated in a thread.
  private val chosen = new ThreadLocal[CheckpointFileManager]

  private def current: CheckpointFileManager = chosen.get

  /** Lets managers that are made meanwhile show these files. */
  def over[A](files: CheckpointFileManager)(body: => A): A = {
    chosen.set(files)
    try body
    finally chosen.remove()
  }
}
