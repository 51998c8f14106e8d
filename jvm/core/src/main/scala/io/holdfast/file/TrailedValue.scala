package io.holdfast.file

/** A value of a file with the checksum of its row behind it, as stores with row checksums keep it. Its
  * buffer is used again for the next, and grows with the longest. For one thread.
  */
final private[file] class TrailedValue {
  private[this] var held = new Array[Byte](0)

  /** What holds the value that was set last, from its first byte. */
  def bytes: Array[Byte] = held

  /** Copies a value and its checksum.
    *
    * @return
    *   bytes that they take together
    */
  def set(source: Array[Byte], offset: Int, length: Int, checksum: Int): Int = {
    val needed = length + RowChecksum.TrailerBytes
    // Twice as much, so that values which grow do not need a new one each time.
    if (held.length < needed)
      held = new Array[Byte](math.max(needed, math.min(needed, 1 << 29) * 2))
    System.arraycopy(source, offset, held, 0, length)
    RowChecksum.putTrailer(held, length, checksum)
    needed
  }
}
