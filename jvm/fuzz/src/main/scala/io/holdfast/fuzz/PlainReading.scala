package io.holdfast.fuzz

import java.nio.{BufferUnderflowException, ByteBuffer}

import io.holdfast.file.{RowChecksum, StateFile}

/** The records of a file as `jvm/FORMAT.md` has them, with nothing done for the sake of speed. */
private[fuzz] object PlainReading {

  /** The rows that are left in the end; nothing if the records are damaged. */
  def of(input: Input): Option[Content.Rows] = {
    val in = ByteBuffer.wrap(input.bytes)
    var rows: Content.Rows = Map.empty
    try {
      var keyLength = in.getInt()
      while (keyLength != -1) {
        val key = take(in, keyLength)
        val valueLength = in.getInt()
        if (valueLength < 0) {
          if (input.kind == StateFile.Snapshot) damaged()
          val removed = if (input.rowChecksums) withoutChecksum(key, Array.empty) else key
          rows -= wholeWords(removed)
        } else {
          val value = take(in, valueLength)
          val kept =
            if (input.rowChecksums) trailed(key, withoutChecksum(value, key))
            else cut(value)
          rows += wholeWords(key) -> ByteBuffer.wrap(kept)
        }
        keyLength = in.getInt()
      }
      Some(rows)
    } catch { case _: Damaged | _: BufferUnderflowException => None }
  }

  final private class Damaged extends RuntimeException

  private def damaged(): Nothing = throw new Damaged

  private def take(in: ByteBuffer, length: Int): Array[Byte] = {
    if (length < 0 || length > in.remaining) damaged()
    val bytes = new Array[Byte](length)
    in.get(bytes)
    bytes
  }

  /** What follows a checksum, which has to be that of it and of what is before it. */
  private def withoutChecksum(bytes: Array[Byte], before: Array[Byte]): Array[Byte] = {
    if (bytes.length < RowChecksum.FileBytes) damaged()
    val (checksum, rest) = bytes.splitAt(RowChecksum.FileBytes)
    val all = before ++ rest
    if (RowChecksum.get(checksum, 0) != RowChecksum.of(all, 0, all.length)) damaged()
    rest
  }

  /** What Spark reads of a value from before 2.3: whole words. */
  private def cut(value: Array[Byte]): Array[Byte] = value.take(value.length & ~7)

  /** A value as it is kept, its checksum behind it. */
  private def trailed(key: Array[Byte], value: Array[Byte]): Array[Byte] = {
    val kept = cut(value)
    val trailed = java.util.Arrays.copyOf(kept, kept.length + RowChecksum.TrailerBytes)
    val all = key ++ kept
    RowChecksum.putTrailer(trailed, kept.length, RowChecksum.of(all, 0, all.length))
    trailed
  }

  private def wholeWords(key: Array[Byte]): (Int, ByteBuffer) = {
    if ((key.length & 7) != 0) damaged()
    (0, ByteBuffer.wrap(key))
  }
}
