package io.holdfast.disk

import java.nio.file.{FileSystemException, Files, Path => LocalPath, Paths}
import java.nio.file.StandardCopyOption.{ATOMIC_MOVE, REPLACE_EXISTING}
import java.nio.file.attribute.BasicFileAttributes
import java.util.UUID

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  FSDataInputStream,
  FileAlreadyExistsException,
  FileStatus,
  FileSystem,
  Path,
  PathFilter
}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.{
  CancellableFSDataOutputStream,
  CheckpointFileManager
}

/** Checkpoint files on a local or mounted disk, without starting a process.
  *
  * A file is written under a temporary name and appears, whole, with a rename; one that must not
  * replace another appears with a hard link, which fails if there is one. Beside it lies the
  * checksum file that Hadoop's `LocalFileSystem` verifies when it reads. The old one goes before a
  * file is replaced, and the new one comes after it, so a crash in between leaves a file without
  * one, which is read unverified. Of two processes that replace a file at the same time, the one
  * whose file is not there in the end takes its checksums away again.
  */
final private[holdfast] class LocalCheckpointFiles(root: Path, hadoopConf: Configuration)
    extends CheckpointFileManager
    with Logging {
  import LocalCheckpointFiles._

  private val fileSystem = FileSystem.getLocal(hadoopConf)

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream = {
    val target = onDisk(path)
    val parent = target.getParent
    if (!Files.isDirectory(parent)) Files.createDirectories(parent)
    val temporary = parent.resolve(s".${target.getFileName}.${UUID.randomUUID()}.tmp")
    new AtomicOutput(target, new ChecksummedFile(temporary), overwriteIfPossible)
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
    val qualified = fileSystem.makeQualified(root)
    mkdirs(qualified)
    qualified
  }

  private def onDisk(path: Path): LocalPath =
    Paths.get(fileSystem.makeQualified(path).toUri.getPath)

  final private class AtomicOutput(target: LocalPath, file: ChecksummedFile, overwrite: Boolean)
      extends CancellableFSDataOutputStream(file) {
    private var ended = false

    override def close(): Unit = synchronized {
      if (!ended) {
        ended = true
        try {
          file.close()
          if (overwrite) replace() else create()
        } catch {
          case e: Throwable =>
            try file.delete()
            catch { case NonFatal(other) => e.addSuppressed(other) }
            throw e
        }
      }
    }

    override def cancel(): Unit = synchronized {
      if (!ended) {
        ended = true
        try file.close()
        catch {
          case NonFatal(e) => logDebug(s"Closing ${file.path} failed, and it is not wanted", e)
        }
        file.delete()
      }
    }

    private def replace(): Unit = {
      val checksums = checksumsOf(target)
      val written = identity(file.path)
      deleteIfThere(checksums)
      Files.move(file.path, target, ATOMIC_MOVE, REPLACE_EXISTING)
      Files.move(file.checksums, checksums, ATOMIC_MOVE, REPLACE_EXISTING)
      // Another attempt may have replaced the file meanwhile, and checksums of ours are none of its.
      if (written != identity(target)) { val _ = Files.deleteIfExists(checksums) }
    }

    private def create(): Unit = {
      if (target.toFile.exists()) throw exists()
      deleteIfThere(checksumsOf(target))
      try Files.createLink(target, file.path)
      catch {
        case _: java.nio.file.FileAlreadyExistsException => throw exists()
        // Not every file system has hard links. Spark's own manager renames too.
        case _: UnsupportedOperationException | _: FileSystemException =>
          Files.move(file.path, target, ATOMIC_MOVE)
      }
      deleteIfThere(file.path)
      Files.move(file.checksums, checksumsOf(target), ATOMIC_MOVE, REPLACE_EXISTING)
      ()
    }

    private def exists() = new FileAlreadyExistsException(
      s"$target is there already and is not to be replaced: another run of the query writes to the " +
        "same checkpoint; stop one of them")
  }
}

private object LocalCheckpointFiles {

  /** Where Hadoop's `ChecksumFileSystem` looks for the checksums of a file. */
  def checksumsOf(file: LocalPath): LocalPath = file.resolveSibling(s".${file.getFileName}.crc")

  // To ask first is much quicker than the exception that a missing file would be inside Java.
  private def deleteIfThere(file: LocalPath): Unit =
    if (file.toFile.exists()) { val _ = Files.deleteIfExists(file) }

  private def identity(file: LocalPath): Option[AnyRef] =
    try Option(Files.readAttributes(file, classOf[BasicFileAttributes]).fileKey())
    catch { case NonFatal(_) => None }
}
