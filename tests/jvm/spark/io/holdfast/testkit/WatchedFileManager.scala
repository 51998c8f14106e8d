package io.holdfast.testkit

import java.io.{FilterInputStream, InputStream, OutputStream}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CancellableFSDataOutputStream

import io.holdfast.testkit.FileOperation._

/** A [[LocalFileManager]] that asks its [[FileOperations]] before everything it does. */
final class WatchedFileManager(root: Path, conf: Configuration)
    extends LocalFileManager(root, conf) {
  private val operations = FileOperations(conf.get(FileOperations.Setting))

  override def createAtomic(path: Path, overwrite: Boolean): CancellableFSDataOutputStream = {
    val file = around(Create, path)(super.createAtomic(path, overwrite))
    new CancellableFSDataOutputStream(new WatchedOutput(file, path)) {
      override def close(): Unit = around(Finish, path)(file.close())
      override def cancel(): Unit = around(Cancel, path)(file.cancel())
    }
  }

  override def open(path: Path): FSDataInputStream =
    new FSDataInputStream(new WatchedInput(around(Open, path)(super.open(path)), path))

  override def list(path: Path, filter: PathFilter): Array[FileStatus] =
    around(ListFolder, path)(super.list(path, filter))

  override def mkdirs(path: Path): Unit = around(MakeFolder, path)(super.mkdirs(path))

  override def exists(path: Path): Boolean = around(Exists, path)(super.exists(path))

  override def delete(path: Path): Unit = around(Delete, path)(super.delete(path))

  private def around[A](kind: Kind, path: Path)(proceed: => A): A =
    operations.around(FileOperation(kind, path.getName))(proceed)

  // Writes a part in two halves, so that one that fails leaves the other.
  private final class WatchedOutput(file: OutputStream, path: Path) extends OutputStream {
    override def write(byte: Int): Unit = around(Write, path)(file.write(byte))

    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
      val half = length / 2
      file.write(bytes, offset, half)
      around(Write, path)(file.write(bytes, offset + half, length - half))
    }

    override def flush(): Unit = file.flush()
  }

  private final class WatchedInput(file: FSDataInputStream, path: Path)
      extends FilterInputStream(file: InputStream)
      with Seekable
      with PositionedReadable {
    override def read(): Int = around(Read, path)(file.read())

    override def read(bytes: Array[Byte], offset: Int, length: Int): Int =
      around(Read, path)(file.read(bytes, offset, length))

    override def read(position: Long, bytes: Array[Byte], offset: Int, length: Int): Int =
      file.read(position, bytes, offset, length)

    override def readFully(position: Long, bytes: Array[Byte], offset: Int, length: Int): Unit =
      file.readFully(position, bytes, offset, length)

    override def readFully(position: Long, bytes: Array[Byte]): Unit =
      file.readFully(position, bytes)

    override def seek(position: Long): Unit = file.seek(position)

    override def getPos: Long = file.getPos

    override def seekToNewSource(position: Long): Boolean = file.seekToNewSource(position)
  }
}
