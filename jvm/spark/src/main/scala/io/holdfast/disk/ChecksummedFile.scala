package io.holdfast.disk

import java.io.{BufferedOutputStream, DataOutputStream, OutputStream}
import java.nio.file.Path
import java.util.zip.CRC32

/** A new file on a local disk, and beside it the file of its checksums in the layout of Hadoop's
  * `ChecksumFileSystem` (Hadoop 3.4): `crc` and a zero byte, the chunk size as a big-endian int, and
  * the CRC-32 of every chunk.
  *
  * For one thread.
  */
final private[holdfast] class ChecksummedFile(disk: LocalDisk, val path: Path)
    extends OutputStream {
  import ChecksummedFile._

  /** Where the checksums are until both files get their names. */
  val checksums: Path = path.resolveSibling(s"${path.getFileName}.crc")

  private[this] val dataFile = disk.create(path)
  private[this] val data = new BufferedOutputStream(dataFile, BufferBytes)
  private[this] val sumsFile =
    try disk.create(checksums)
    catch {
      case e: Throwable =>
        try dataFile.close()
        finally { val _ = disk.delete(path) }
        throw e
    }
  private[this] val sums = {
    val out = new DataOutputStream(new BufferedOutputStream(sumsFile))
    out.write(Magic)
    out.writeInt(ChunkBytes)
    out
  }
  private[this] val crc = new CRC32
  private[this] var inChunk = 0

  override def write(byte: Int): Unit = {
    data.write(byte)
    crc.update(byte)
    inChunk += 1
    if (inChunk == ChunkBytes) endChunk()
  }

  override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
    data.write(bytes, offset, length)
    var from = offset
    val end = offset + length
    while (from < end) {
      val part = math.min(ChunkBytes - inChunk, end - from)
      crc.update(bytes, from, part)
      inChunk += part
      from += part
      if (inChunk == ChunkBytes) endChunk()
    }
  }

  override def flush(): Unit = data.flush()

  /** Waits until the disk has all that was written. Nothing can be written afterwards. */
  def force(): Unit = {
    if (inChunk > 0) endChunk()
    data.flush()
    sums.flush()
    dataFile.force()
    sumsFile.force()
  }

  override def close(): Unit =
    try data.close()
    finally sums.close()

  /** Deletes what still has a temporary name. */
  def delete(): Unit = {
    disk.delete(path)
    disk.delete(checksums)
    ()
  }

  private[this] def endChunk(): Unit = {
    sums.writeInt(crc.getValue.toInt)
    crc.reset()
    inChunk = 0
  }
}

private object ChecksummedFile {
  private val Magic = Array[Byte]('c', 'r', 'c', 0)

  // Hadoop's default, `file.bytes-per-checksum`.
  private val ChunkBytes = 512

  private val BufferBytes = 1 << 16
}
