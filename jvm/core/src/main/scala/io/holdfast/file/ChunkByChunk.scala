package io.holdfast.file

import java.io.{FilterInputStream, InputStream}

/** What a codec decompresses, of which a read gives out no more than is ready. Else `SnappyInputStream`
  * of snappy-java, and the `BufferedInputStream` that Spark has around zstd's, go on until they have all
  * that they were asked for, and meet whatever lies behind the chunk that ends the records, which nobody
  * has to look at.
  *
  * For one thread.
  */
final class ChunkByChunk private (in: InputStream) extends FilterInputStream(in) {

  override def read(into: Array[Byte], offset: Int, length: Int): Int =
    if (length == 0) 0
    // To say what is ready, a chunk may be taken. Of zstd, one byte more may be said than is there.
    else in.read(into, offset, math.min(length, math.max(in.available() - 1, 1)))
}

object ChunkByChunk {

  /** What a codec decompresses, for who reads records.
    *
    * @param codec
    *   its short name
    * @param in
    *   `in` itself where the codec gives out a chunk at a time, as `lz4` and `lzf` do, and where it is
    *   not known what it does
    */
  def of(codec: String, in: InputStream): InputStream =
    if (codec == "snappy" || codec == "zstd") new ChunkByChunk(in) else in
}
