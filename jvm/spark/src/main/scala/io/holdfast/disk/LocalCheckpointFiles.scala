package io.holdfast.disk

import java.io.IOException
import java.nio.file.{AccessDeniedException, FileSystemException, Path => LocalPath, Paths}
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

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

/** Checkpoint files on a local or mounted disk, without starting a process, and on the disk when
  * their `close` returns: it forces the bytes of file and checksums before they get their names, and
  * their folder behind that. A folder that is made is forced into the one above before anything is
  * put into it.
  *
  * A file is written under a temporary name and appears, whole, with a rename; one that must not
  * replace another appears with a hard link, which fails if there is one. Beside it lies the
  * checksum file that Hadoop's `LocalFileSystem` verifies when it reads. The old one goes before a
  * file is replaced, and the new one comes after it, so a crash in between leaves a file without
  * one, which is read unverified. Of two processes that replace a file at the same time, the one
  * whose file is not there in the end takes its checksums away again.
  */
final private[holdfast] class LocalCheckpointFiles(
    root: Path,
    hadoopConf: Configuration,
    disk: LocalDisk = LocalDisk.OfMachine)
    extends CheckpointFileManager
    with Logging {
  import LocalCheckpointFiles._

  private val fileSystem = FileSystem.getLocal(hadoopConf)

  // Folders that are known to be forced into those above them.
  private val folders = ConcurrentHashMap.newKeySet[LocalPath]

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream = {
    val target = onDisk(path)
    makeFolder(target.getParent)
    val temporary = target.resolveSibling(s".${target.getFileName}.${UUID.randomUUID()}.tmp")
    new AtomicOutput(target, new ChecksummedFile(disk, temporary), overwriteIfPossible)
  }

  override def open(path: Path): FSDataInputStream = fileSystem.open(path)

  override def list(path: Path, filter: PathFilter): Array[FileStatus] =
    fileSystem.listStatus(path, filter)

  override def mkdirs(path: Path): Unit = makeFolder(onDisk(path))

  override def exists(path: Path): Boolean = fileSystem.exists(path)

  override def delete(path: Path): Unit = {
    fileSystem.delete(path, true)
    ()
  }

  override def isLocal: Boolean = true

  /** @throws java.lang.IllegalArgumentException
    *   if it cannot be made: PySpark shows the sentence of that, and the stack of others
    */
  override def createCheckpointDirectory(): Path = {
    val qualified = fileSystem.makeQualified(root)
    try mkdirs(qualified)
    catch {
      case e: FileSystemException =>
        val why = e match {
          case _: AccessDeniedException => "this user may not write there"
          case _ => Option(e.getReason).getOrElse(e.toString)
        }
        throw new IllegalArgumentException(
          s"the folder of the checkpoint, $qualified, cannot be made: ${e.getFile}: $why. Choose " +
            "another checkpointLocation, or let the user that runs Spark write there",
          e)
    }
    qualified
  }

  private def onDisk(path: Path): LocalPath =
    Paths.get(fileSystem.makeQualified(path).toUri.getPath)

  private def makeFolder(folder: LocalPath): Unit =
    if (!folders.contains(folder) || !disk.exists(folder)) {
      // Whoever finds a folder that another thread has made finds it forced.
      FolderMaking.synchronized {
        upFrom(folder).takeWhile(!disk.exists(_)).toVector.reverse.foreach { each =>
          disk.makeFolder(each)
          force(each.getParent)
        }
      }
      val _ = folders.add(folder)
    }

  // Some file systems, as those of Windows, force names when they please.
  private lazy val forcesFolders: Boolean =
    try {
      upFrom(onDisk(root)).find(disk.exists).foreach(disk.force)
      true
    } catch {
      case e: IOException =>
        logInfo(
          s"Folders cannot be forced to the disk at $root, only files: after a loss of power files " +
            "of the last batches may be missing",
          e)
        false
    }

  private def force(folder: LocalPath): Unit = if (forcesFolders) disk.force(folder)

  final private class AtomicOutput(target: LocalPath, file: ChecksummedFile, overwrite: Boolean)
      extends CancellableFSDataOutputStream(file) {
    private val checksums = checksumsOf(target)
    private var ended = false

    override def close(): Unit = synchronized {
      if (!ended) {
        ended = true
        try {
          try file.force()
          finally file.close()
          if (overwrite) replace() else create()
          forceNames()
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
      val written = disk.identity(file.path)
      val replaces = disk.exists(target)
      removeOldChecksums()
      disk.move(file.path, target)
      // Those of an attempt that has come meanwhile, whose file is no longer there.
      removeOldChecksums()
      // Else the old file may be there with the new checksums when power is lost.
      if (replaces) forceNames()
      disk.move(file.checksums, checksums)
      // Another attempt may have replaced the file meanwhile, and checksums of ours are none of its.
      if (written != disk.identity(target)) { val _ = disk.delete(checksums) }
    }

    private def create(): Unit = {
      if (disk.exists(target)) throw exists()
      removeOldChecksums()
      try disk.link(target, file.path)
      catch {
        case _: java.nio.file.FileAlreadyExistsException => throw exists()
        // Not every file system has hard links. Spark's own manager renames too.
        case _: UnsupportedOperationException | _: FileSystemException =>
          if (disk.exists(target)) throw exists()
          disk.move(file.path, target)
      }
      disk.delete(file.path)
      disk.move(file.checksums, checksums)
    }

    // Forced, for else the new file may be there with them when power is lost.
    private def removeOldChecksums(): Unit = if (disk.delete(checksums)) forceNames()

    private def forceNames(): Unit = force(target.getParent)

    private def exists() = new FileAlreadyExistsException(
      s"$target is there already and is not to be replaced: another run of the query writes to the " +
        "same checkpoint; stop one of them")
  }
}

private object LocalCheckpointFiles {

  private object FolderMaking

  private def upFrom(folder: LocalPath): Iterator[LocalPath] =
    Iterator.iterate(folder)(_.getParent).takeWhile(_ != null)

  /** Where Hadoop's `ChecksumFileSystem` looks for the checksums of a file. */
  def checksumsOf(file: LocalPath): LocalPath = file.resolveSibling(s".${file.getFileName}.crc")
}
