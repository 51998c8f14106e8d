package io.holdfast.python

import java.io.{DataInputStream, DataOutputStream}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Rows in files of uncompressed records without checksums (`jvm/FORMAT.md`). */
private[holdfast] object RowFile {

  /** What follows the last record, in place of the number that one begins with. */
  val EndMarker: Int = -1

  /** Writes the length of a row and its bytes. */
  def write(out: DataOutputStream, row: UnsafeRow): Unit = {
    out.writeInt(row.getSizeInBytes)
    row.writeToStream(out, null)
  }

  /** Points a row at the next bytes, which are its own.
    *
    * @param length
    *   how many there are
    */
  def read(in: DataInputStream, row: UnsafeRow, length: Int): Unit =
    row.pointTo(bytes(in, length), length)

  /** The next bytes. */
  def bytes(in: DataInputStream, length: Int): Array[Byte] = {
    val bytes = new Array[Byte](length)
    in.readFully(bytes)
    bytes
  }
}
