package io.holdfast.file

import java.io.InputStream

/** A stream that takes a chunk of another one and gives it out before it takes the next. For one thread. */
private[file] abstract class ChunkInput extends InputStream {

  /** What is given out, from `position` to `limit`. */
  protected var chunk: Array[Byte]
  protected var position = 0
  protected var limit = 0

  /** Takes the next chunk to the beginning of `chunk`, and sets `limit` to its end; nothing at the end of
    * the stream.
    */
  protected def takeNext(): Unit

  /** Sees to it that there is something to give out.
    *
    * @return
    *   false at the end of the stream
    */
  final protected def fill(): Boolean = {
    if (position == limit) {
      position = 0
      limit = 0
      takeNext()
    }
    position < limit
  }

  final override def read(): Int =
    if (!fill()) -1
    else {
      position += 1
      chunk(position - 1) & 0xff
    }

  final override def read(into: Array[Byte], offset: Int, length: Int): Int =
    if (length == 0) 0
    else if (!fill()) -1
    else {
      val count = math.min(length, limit - position)
      System.arraycopy(chunk, position, into, offset, count)
      position += count
      count
    }

  final override def available(): Int = limit - position
}
