package io.holdfast.fuzz

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.ByteBuffer

import io.holdfast.file.{RecordReader, RecordWriter, Replay, StateFile}
import io.holdfast.table.{MemoryUse, RowCursor, RowRecord, Version}

/** What a version holds, to be compared: values by table and key. */
private[fuzz] object Content {
  type Rows = Map[(Int, ByteBuffer), ByteBuffer]

  def of(version: Version): Rows = {
    val rows = Map.newBuilder[(Int, ByteBuffer), ByteBuffer]
    val cursor = version.cursorOfAll()
    var count = 0L
    while (cursor.next()) {
      rows += row(cursor)
      count += 1
    }
    val all = rows.result()
    Target.check(all.size == count, s"${count - all.size} rows have keys of others")
    all
  }

  private def row(cursor: RowCursor): ((Int, ByteBuffer), ByteBuffer) = {
    val page = cursor.page
    val at = cursor.offset
    val key = copied(page, RowRecord.keyOffset(at), RowRecord.keyLength(page, at))
    val value = copied(page, RowRecord.valueOffset(page, at), RowRecord.valueLength(page, at))
    (RowRecord.table(page, at), key) -> value
  }

  private def copied(bytes: Array[Byte], from: Int, length: Int): ByteBuffer =
    ByteBuffer.wrap(java.util.Arrays.copyOfRange(bytes, from, from + length))

  /** The version that the records of an input make of one without rows. */
  def replayed(input: Input): Version =
    replayed(
      new RecordReader(new ByteArrayInputStream(input.bytes), input.file, input.rowChecksums))

  /** The version that records make of one without rows. */
  def replayed(reader: RecordReader): Version = {
    val rows = Version.empty.open(MemoryUse.Unlimited)
    val _ = Replay.into(rows, reader, reader.rowChecksums, (_, _, _, _, _) => ())
    rows.commit()
  }

  private def written(version: Version, rowChecksums: Boolean): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val records = new RecordWriter(out, rowChecksums)
    records.putAll(version.cursorOfAll())
    records.finish()
    out.toByteArray
  }

  /** Checks that a snapshot of a version leads to what it holds. */
  def checkWritten(version: Version, rowChecksums: Boolean): Unit = {
    val snapshot =
      Input(StateFile.Snapshot, rowChecksums, Input.codecs.head, written(version, rowChecksums))
    Target.check(of(replayed(snapshot)) == of(version), "a snapshot holds something else")
  }
}
