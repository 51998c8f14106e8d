package io.holdfast.disk

import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, PathFilter}
import org.apache.spark.sql.execution.streaming.state.holdfast.FileManagers
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CancellableFSDataOutputStream

/** A file manager that does what another one does, but for what is overridden. */
private[holdfast] trait ManagerOverAnother extends FileManagers.Closing {

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream =
    inner.createAtomic(path, overwriteIfPossible)

  override def open(path: Path): FSDataInputStream = inner.open(path)

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = inner.list(path, filter)

  override def mkdirs(path: Path): Unit = inner.mkdirs(path)

  override def exists(path: Path): Boolean = inner.exists(path)

  override def delete(path: Path): Unit = inner.delete(path)

  override def isLocal: Boolean = inner.isLocal

  override def createCheckpointDirectory(): Path = inner.createCheckpointDirectory()
}
