package io.holdfast.testkit

import java.io.BufferedOutputStream
import java.net.URI
import java.nio.file.{Files, Paths, StandardCopyOption, Path => LocalPath}
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  FSDataInputStream,
  FileAlreadyExistsException,
  FileStatus,
  Path,
  PathFilter,
  RawLocalFileSystem
}
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CancellableFSDataOutputStream

/** Checkpoint files on the local disk: a file appears, or takes the place of another, as a whole.
  *
  * Spark's own managers on a local disk either start ten processes for each file (the default) or do
  * not replace a file that is there (`FileSystemBasedCheckpointFileManager`). Holdfast's keeps
  * Hadoop's checksums, which would find the damage that tests do to files before the provider does.
  */
class LocalFileManager(root: Path, conf: Configuration) extends CheckpointFileManager {

  private val fileSystem = {
    val local = new RawLocalFileSystem
    local.initialize(URI.create("file:///"), conf)
    local
  }

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream = {
    val temporary = new Path(path.getParent, s".${path.getName}.${UUID.randomUUID()}.tmp")
    // Hadoop's file system would start a process to set permissions.
    new CancellableFSDataOutputStream(
      new BufferedOutputStream(Files.newOutputStream(onDisk(temporary)))) {
      private var ended = false

      override def close(): Unit = if (!ended) {
        ended = true
        underlyingStream.close()
        if (overwriteIfPossible) {
          Files.move(onDisk(temporary), onDisk(path), StandardCopyOption.ATOMIC_MOVE)
          ()
        } else {
          try link(onDisk(path), onDisk(temporary))
          finally Files.delete(onDisk(temporary))
        }
      }

      override def cancel(): Unit = if (!ended) {
        ended = true
        underlyingStream.close()
        Files.delete(onDisk(temporary))
      }
    }
  }

  override def open(path: Path): FSDataInputStream = fileSystem.open(path)

  override def list(path: Path, filter: PathFilter): Array[FileStatus] =
    fileSystem.listStatus(path, filter)

  override def mkdirs(path: Path): Unit = {
    Files.createDirectories(onDisk(path))
    ()
  }

  override def exists(path: Path): Boolean = fileSystem.exists(path)

  override def delete(path: Path): Unit = {
    fileSystem.delete(path, true)
    ()
  }

  override def isLocal: Boolean = true

  override def createCheckpointDirectory(): Path = {
    mkdirs(root)
    fileSystem.makeQualified(root)
  }

  private def link(path: LocalPath, file: LocalPath): Unit =
    try { val _ = Files.createLink(path, file) }
    catch {
      case _: java.nio.file.FileAlreadyExistsException =>
        throw new FileAlreadyExistsException(s"$path is there already")
    }

  private def onDisk(path: Path) = Paths.get(path.toUri.getPath)
}
