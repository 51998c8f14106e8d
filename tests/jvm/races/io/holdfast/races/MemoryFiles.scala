package io.holdfast.races

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, FileNotFoundException}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import org.apache.hadoop.fs._
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.{
  CancellableFSDataOutputStream,
  CheckpointFileManager
}

/** Files in memory, which appear whole. Without a lock, for Lincheck knows nothing of what a codec calls:
  * a change is one compare-and-set. Any thread may call.
  */
final class MemoryFiles(begun: Map[String, Array[Byte]] = Map.empty) extends CheckpointFileManager {
  private val content = new AtomicReference(begun)
  private val writing = new AtomicInteger

  /** All files, by name. */
  def all: Map[String, Array[Byte]] = content.get

  /** Files that were begun, and neither finished nor given up. */
  def unfinished: Int = writing.get

  override def createAtomic(path: Path, overwrite: Boolean): CancellableFSDataOutputStream = {
    writing.incrementAndGet()
    val bytes = new ByteArrayOutputStream
    new CancellableFSDataOutputStream(bytes) {
      private var ended = false

      override def close(): Unit = end(change(_.updated(path.getName, bytes.toByteArray)))

      override def cancel(): Unit = end(())

      private def end(how: => Unit): Unit = if (!ended) {
        ended = true
        how
        val _ = writing.decrementAndGet()
      }
    }
  }

  override def open(path: Path): FSDataInputStream =
    new FSDataInputStream(
      new InMemory(all.getOrElse(path.getName, throw new FileNotFoundException(path.toString))))

  override def list(path: Path, filter: PathFilter): Array[FileStatus] =
    all.toArray
      .sortBy(_._1)
      .map { case (name, bytes) =>
        new FileStatus(bytes.length.toLong, false, 1, 1L, 0L, new Path(path, name))
      }
      .filter(status => filter.accept(status.getPath))

  override def mkdirs(path: Path): Unit = ()

  override def exists(path: Path): Boolean = all.contains(path.getName)

  override def delete(path: Path): Unit = change(_ - path.getName)

  override def isLocal: Boolean = false

  override def createCheckpointDirectory(): Path = throw new UnsupportedOperationException

  private def change(how: Map[String, Array[Byte]] => Map[String, Array[Byte]]): Unit = {
    val _ = content.updateAndGet(files => how(files))
  }

  final private class InMemory(bytes: Array[Byte])
      extends ByteArrayInputStream(bytes)
      with Seekable
      with PositionedReadable {
    override def seek(position: Long): Unit = pos = position.toInt
    override def getPos: Long = pos.toLong
    override def seekToNewSource(position: Long): Boolean = false

    override def read(position: Long, into: Array[Byte], offset: Int, length: Int): Int = {
      val count = math.min(length, bytes.length - position.toInt)
      System.arraycopy(bytes, position.toInt, into, offset, count)
      count
    }

    override def readFully(position: Long, into: Array[Byte], offset: Int, length: Int): Unit = {
      val _ = read(position, into, offset, length)
    }

    override def readFully(position: Long, into: Array[Byte]): Unit =
      readFully(position, into, 0, into.length)
  }
}
