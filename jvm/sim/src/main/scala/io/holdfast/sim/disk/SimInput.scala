package io.holdfast.sim.disk

import java.io.{IOException, InputStream}

import org.apache.hadoop.fs.{PositionedReadable, Seekable}

import io.holdfast.sim.world.Process

/** Reads a file as it was when it was opened. For one thread. */
final class SimInput(path: String, file: SimFile, process: Process, events: DiskEvents)
    extends InputStream
    with Seekable
    with PositionedReadable {
  private[this] var position = 0
  private[this] var isOpen = true
  private[this] val handle = events.number()
  process.opened(handle, s"read $path")
  private[this] val reset = events.resetAfter(process, file.bytes.length).getOrElse(Int.MaxValue)

  override def read(): Int = {
    val one = new Array[Byte](1)
    if (read(one, 0, 1) < 0) -1 else one(0) & 0xff
  }

  override def read(bytes: Array[Byte], offset: Int, length: Int): Int = {
    if (!isOpen) throw new IOException(s"$path is closed")
    if (position == 0) events.before(process, "read", path)
    val left = math.min(file.bytes.length, reset) - position
    if (length == 0) 0
    else if (left > 0) {
      val count = math.max(1, events.readable(math.min(left, length)))
      System.arraycopy(file.bytes, position, bytes, offset, count)
      position += count
      count
    } else if (reset < file.bytes.length)
      throw new IOException(s"connection reset while $path is read")
    else -1
  }

  override def close(): Unit = if (isOpen) {
    isOpen = false
    process.closed(handle)
  }

  override def seek(to: Long): Unit = position = to.toInt
  override def getPos: Long = position.toLong
  override def seekToNewSource(to: Long): Boolean = false

  override def read(from: Long, bytes: Array[Byte], offset: Int, length: Int): Int = unused()
  override def readFully(from: Long, bytes: Array[Byte], offset: Int, length: Int): Unit = {
    val _ = unused()
  }
  override def readFully(from: Long, bytes: Array[Byte]): Unit = {
    val _ = unused()
  }

  private def unused(): Int = throw new UnsupportedOperationException(
    "state files are read in order")
}
