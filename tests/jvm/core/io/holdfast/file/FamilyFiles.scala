package io.holdfast.file

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}

import io.holdfast.table.{Changes, Family, RowOrder, Transaction, Version}

/** Files of stores with column families in memory, their streams not compressed. */
object FamilyFiles {
  val delta: StateFile = StateFile("2.delta", 2L, StateFile.Delta)
  val snapshot: StateFile = StateFile("2.snapshot", 2L, StateFile.Snapshot)

  def ofChanges(changes: Changes, checksums: Boolean = false): Array[Byte] =
    written(delta, checksums)(_.write(changes))

  def ofVersion(version: Version, checksums: Boolean = false): Array[Byte] =
    written(snapshot, checksums) { records =>
      records.begin(version)
      records.putAll(version.cursorOfAll())
    }

  def written(
      file: StateFile,
      checksums: Boolean)(write: FamilyRecordWriter => Unit): Array[Byte] = {
    val out = new ByteArrayOutputStream
    FamilyFile.write(out, file.kind, FamilyFile("zstd", checksums))
    val blocks = new BlockOutput(out)
    val records = new FamilyRecordWriter(blocks, checksums)
    write(records)
    records.finish()
    blocks.finish()
    out.toByteArray
  }

  /** Applies a file, and reads it to its end.
    *
    * @param order
    *   in which the keys of a family are scanned, if they are
    */
  def replay(
      bytes: Array[Byte],
      file: StateFile,
      rows: Transaction,
      checksums: Boolean = false,
      order: Family => Option[RowOrder] = _ => None): Long = {
    val in = new ByteArrayInputStream(bytes)
    val said = FamilyFile.read(in, file)
    val blocks = new BlockInput(in, file)
    val reader = new FamilyRecordReader(blocks, file, said.rowChecksums)
    val records =
      try new FamilyReplay(rows, reader, checksums, family => order(family)).run()
      catch { case e: UnreadableFileException => throw Option(blocks.damage).getOrElse(e) }
    blocks.finish()
    records
  }
}
