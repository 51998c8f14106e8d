package io.holdfast.file

/** The checksum that Spark keeps with each row when
  * `spark.sql.streaming.stateStore.rowChecksum.enabled` is set: CRC-32C of the key bytes followed by
  * the value bytes, or of the key bytes alone for a removal (`KeyValueChecksum`, Spark 4.2).
  *
  * Files carry it in front of the value, or of the key of a removal, as [[FileBytes]] bytes in
  * little-endian order (`KeyValueChecksumEncoder`). In memory it follows the value bytes as a
  * trailer of [[TrailerBytes]], which keeps rows 8-byte aligned. Any thread may call.
  */
object RowChecksum {

  /** Bytes of a checksum in a file. */
  val FileBytes: Int = 4

  /** Bytes of a checksum behind a value in memory: the checksum and four zeros. */
  val TrailerBytes: Int = 8

  def of(key: Array[Byte], keyOffset: Int, keyLength: Int): Int = {
    val crc = new Crc32c
    crc.update(key, keyOffset, keyLength)
    crc.value()
  }

  def of(
      key: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      value: Array[Byte],
      valueOffset: Int,
      valueLength: Int): Int = {
    val crc = new Crc32c
    crc.update(key, keyOffset, keyLength)
    crc.update(value, valueOffset, valueLength)
    crc.value()
  }

  def get(bytes: Array[Byte], offset: Int): Int =
    (bytes(offset) & 0xff) | (bytes(offset + 1) & 0xff) << 8 |
      (bytes(offset + 2) & 0xff) << 16 | (bytes(offset + 3) & 0xff) << 24

  def put(bytes: Array[Byte], offset: Int, checksum: Int): Unit = {
    bytes(offset) = checksum.toByte
    bytes(offset + 1) = (checksum >>> 8).toByte
    bytes(offset + 2) = (checksum >>> 16).toByte
    bytes(offset + 3) = (checksum >>> 24).toByte
  }

  /** Writes the trailer behind a value. */
  def putTrailer(bytes: Array[Byte], offset: Int, checksum: Int): Unit = {
    put(bytes, offset, checksum)
    put(bytes, offset + FileBytes, 0)
  }
}
