package io.holdfast.file

import java.io.{EOFException, InputStream}

import scala.util.control.NonFatal

/** Reads the bytes of a file as they lie in it, with errors that name it. For one thread. */
private[file] final class RawBytes(in: InputStream, file: StateFile) {
  private[this] var position = 0L

  /** Bytes read so far. */
  def offset: Long = position

  /** Reads so many bytes to the front of an array.
    *
    * @throws TruncatedFileException
    *   if there are less
    */
  def read(into: Array[Byte], count: Int, what: String): Unit = {
    var done = 0
    while (done < count) {
      val more = some(into, done, count - done)
      if (more <= 0) throw new TruncatedFileException(file, position, what)
      done += more
    }
  }

  /** Whether nothing is left. */
  def atEnd: Boolean = some(new Array[Byte](1), 0, 1) <= 0

  private[this] def some(into: Array[Byte], offset: Int, length: Int): Int = {
    val count =
      try in.read(into, offset, length)
      catch {
        case _: EOFException => -1
        case NonFatal(e) => throw new UnreadableFileException(file, position, e)
      }
    if (count > 0) position += count
    count
  }
}

private[file] object RawBytes {

  /** The big-endian int at an offset. */
  def int(bytes: Array[Byte], at: Int): Int =
    (bytes(at) & 0xff) << 24 | (bytes(at + 1) & 0xff) << 16 |
      (bytes(at + 2) & 0xff) << 8 | (bytes(at + 3) & 0xff)

  def putInt(bytes: Array[Byte], at: Int, value: Int): Unit = {
    bytes(at) = (value >>> 24).toByte
    bytes(at + 1) = (value >>> 16).toByte
    bytes(at + 2) = (value >>> 8).toByte
    bytes(at + 3) = value.toByte
  }
}
