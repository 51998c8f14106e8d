package org.apache.spark.internal.io.cloud

import java.io.OutputStream

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CancellableFSDataOutputStream

import io.holdfast.testkit.{FileOperation, FileOperations, LocalFileManager}

/** Has the name of Spark's manager for object stores, and passes over what fails in the end of an
  * upload as that one does (spark-hadoop-cloud 4.1).
  */
final class AbortableStreamBasedCheckpointFileManager(root: Path, conf: Configuration)
    extends LocalFileManager(root, conf) {
  private val operations = FileOperations(conf.get(FileOperations.Setting))

  override def createAtomic(path: Path, overwrite: Boolean): CancellableFSDataOutputStream = {
    val file = super.createAtomic(path, overwrite)
    new CancellableFSDataOutputStream(new Upload(file, path)) {
      override def close(): Unit =
        try underlyingStream.close()
        catch { case NonFatal(_) => file.cancel() }

      override def cancel(): Unit = file.cancel()
    }
  }

  final private class Upload(file: OutputStream, path: Path) extends OutputStream {
    private[this] var ended = false

    override def write(byte: Int): Unit = file.write(byte)

    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit =
      file.write(bytes, offset, length)

    override def close(): Unit = if (!ended) {
      ended = true
      operations.around(FileOperation(FileOperation.Finish, path.getName))(file.close())
    }
  }
}
