package io.holdfast.checkpoint

import java.io.OutputStream
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.execution.streaming.state.holdfast.FileChecksums
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.{
  CancellableFSDataOutputStream,
  CheckpointFileManager
}

import io.holdfast.disk.ManagerOverAnother

/** What lies below Spark's manager of checksums where a file must not take the place of another: that
  * one stays with its checksums, and the new one goes with its own.
  *
  * Spark's manager closes the file, and then the file of its checksums (`ChecksumCheckpointFileManager`,
  * Spark 4.1). If the first fails the second stays behind, under its temporary name. So here the first
  * does not fail: it says afterwards, once, what became of it.
  *
  * Any thread may call.
  */
final private[checkpoint] class LeavingFileManager(
    override protected val inner: CheckpointFileManager)
    extends ManagerOverAnother {
  import LeavingFileManager._

  // The files of checksums that are not wanted, and the files that were there.
  private val unwanted = ConcurrentHashMap.newKeySet[Path]
  private val found = ConcurrentHashMap.newKeySet[Path]

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream =
    if (FileChecksums.isOne(path)) new Checksums(path, inner.createAtomic(path, true))
    else if (overwriteIfPossible) inner.createAtomic(path, overwriteIfPossible)
    else {
      val file =
        try Some(inner.createAtomic(path, overwriteIfPossible))
        catch { case _: FileAlreadyExistsException => None }
      new Leaving(path, file)
    }

  /** Whether a file that was to appear has found another one of its name; forgotten from then on. */
  def hasLeft(path: Path): Boolean = found.remove(path)

  final private class Leaving(path: Path, file: Option[CancellableFSDataOutputStream])
      extends CancellableFSDataOutputStream(file.getOrElse(Nowhere)) {
    override def close(): Unit = {
      val appeared =
        try {
          file.foreach(_.close())
          file.isDefined
        } catch { case _: FileAlreadyExistsException => false }
      if (!appeared) {
        found.add(path)
        unwanted.add(checksumsOf(path))
        file.foreach(_.cancel())
      }
    }

    override def cancel(): Unit = file.foreach(_.cancel())
  }

  final private class Checksums(path: Path, file: CancellableFSDataOutputStream)
      extends CancellableFSDataOutputStream(file) {
    override def close(): Unit = if (unwanted.remove(path)) file.cancel() else file.close()

    override def cancel(): Unit = {
      unwanted.remove(path)
      file.cancel()
    }
  }
}

private[checkpoint] object LeavingFileManager {

  private object Nowhere extends OutputStream {
    override def write(byte: Int): Unit = ()
    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = ()
  }

  /** Where Spark's manager has the checksums of a file. */
  def checksumsOf(file: Path): Path = file.suffix(".crc")
}
