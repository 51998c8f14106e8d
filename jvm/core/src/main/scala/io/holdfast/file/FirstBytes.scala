package io.holdfast.file

import java.io.{FilterInputStream, InputStream}

/** A stream that remembers how it began, for who finds out later that it is not what it was taken for.
  * For one thread.
  */
final class FirstBytes(in: InputStream) extends FilterInputStream(in) {
  import FirstBytes.Count

  private[this] val first = new Array[Byte](Count)
  private[this] var count = 0

  /** The first 8 bytes, or those of them that were read. */
  def known: Array[Byte] = first.take(count)

  override def read(): Int = {
    val byte = in.read()
    if (count < Count && byte >= 0) {
      first(count) = byte.toByte
      count += 1
    }
    byte
  }

  override def read(bytes: Array[Byte], offset: Int, length: Int): Int = {
    val read = in.read(bytes, offset, length)
    if (count < Count && read > 0) {
      val more = math.min(read, Count - count)
      System.arraycopy(bytes, offset, first, count, more)
      count += more
    }
    read
  }
}

private object FirstBytes {
  private val Count = 8
}
