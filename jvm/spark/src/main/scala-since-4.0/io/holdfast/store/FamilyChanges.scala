package io.holdfast.store

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.RecordType
import org.apache.spark.unsafe.Platform

import io.holdfast.checkpoint.VersionId
import io.holdfast.families.{DefinedFamilies, FamilyNames}
import io.holdfast.file.{FamilyRecordReader, StateFile}
import io.holdfast.rows.RowFormat
import io.holdfast.table.{Families, Family, ListPart}

/** The changes of one column family, as the change feed of the `statestore` source shows them: delta by
  * delta, those of a delta in memory at once. Of a list that was put the first value is an update and
  * the others are appended, and so are values that were added to a list. Of a family that was removed
  * nothing is shown, also where another of its name has come after it. For one thread.
  *
  * @param deltas
  *   the files, oldest first
  * @param before
  *   the column families of the version before the first of them
  */
final private[holdfast] class FamilyChanges(
    store: StoreParts,
    deltas: Seq[VersionId],
    before: Families,
    name: String)
    extends Iterator[FamilyChanges.Change] {
  import FamilyChanges._

  private[this] val defined = DefinedFamilies.of(store.context)
  private[this] var current = Iterator.empty[Change]
  private[this] var family = before.get(name)
  private[this] var seen = family.isDefined
  private[this] lazy val left = sinceLastRemoval.iterator

  /** @throws org.apache.spark.SparkUnsupportedOperationException
    *   if none of the versions has the family
    */
  override def hasNext: Boolean = {
    while (!current.hasNext && left.hasNext) current = changesOf(left.next())
    if (!current.hasNext && !seen) {
      throw FamilyNames.missing("getStateStoreChangeDataReader", name)
    }
    current.hasNext
  }

  override def next(): Change = {
    if (!hasNext) throw new NoSuchElementException("there are no more changes")
    current.next()
  }

  // The deltas from which on the name is that of one family. What a delta says of families is in front
  // of it, so this decompresses no more than the beginning of each.
  private def sinceLastRemoval: Seq[VersionId] = {
    val removal = deltas.map(read(_)(follow)).lastIndexOf(true)
    family = if (removal < 0) before.get(name) else None
    deltas.drop(removal)
  }

  private def changesOf(delta: VersionId): Iterator[Change] = read(delta) { reader =>
    follow(reader)
    family.fold(Iterator.empty[Change]) { family =>
      val format = defined.format(family)
      if (family.hasManyValues) lists(reader, family, format, delta.number - 1)
      else rows(reader, family, format, delta.number - 1)
    }
  }

  private def read[A](delta: VersionId)(use: FamilyRecordReader => A): A =
    store.files.readFamilies(StateFile.Delta, delta, store.files.open(StateFile.Delta, delta))(use)

  // Takes notice of what a delta says of families, and tells whether it removes that of the name.
  private def follow(reader: FamilyRecordReader): Boolean = {
    val said = reader.families()
    val isRemoved = family.exists(known => said.removed.contains(known.id))
    family = said.defined.find(_.name == name).orElse(if (isRemoved) None else family)
    seen = seen || family.isDefined
    isRemoved
  }

  private def rows(
      reader: FamilyRecordReader,
      family: Family,
      format: RowFormat,
      batch: Long): Iterator[Change] = {
    val changes = mutable.ArrayBuffer.empty[Change]
    while (reader.next()) {
      if (reader.table == family.keyTable) {
        val key = row(format.keySchema.length, keyOf(reader))
        changes +=
          (if (reader.isRemoval) (RecordType.DELETE_RECORD, key, null, batch)
           else
             (RecordType.PUT_RECORD, key, row(format.valueSchema.length, valueOf(reader)), batch))
      }
    }
    changes.iterator
  }

  // The parts of a list lie anywhere in the file.
  private def lists(
      reader: FamilyRecordReader,
      family: Family,
      format: RowFormat,
      batch: Long): Iterator[Change] = {
    val keys = mutable.LinkedHashMap.empty[Seq[Byte], ChangedList]
    def listOf(key: Array[Byte]): ChangedList =
      keys.getOrElseUpdate(key.toSeq, new ChangedList(key))
    while (reader.next()) {
      val key = keyOf(reader)
      if (reader.table == family.keyTable) {
        if (reader.isRemoval) listOf(key).isRemoved = true
        else listOf(key).parts += 0 -> valueOf(reader)
      } else if (reader.table == family.partTable && !reader.isRemoval) {
        val length = key.length - ListPart.NumberBytes
        listOf(key.take(length)).parts += ListPart.number(key, length) -> valueOf(reader)
      }
    }
    keys.valuesIterator.flatMap(_.changes(format, batch))
  }

  private def keyOf(reader: FamilyRecordReader): Array[Byte] =
    reader.bytes.slice(reader.keyOffset, reader.keyOffset + reader.keyLength)

  private def valueOf(reader: FamilyRecordReader): Array[Byte] =
    reader.bytes.slice(reader.valueOffset, reader.valueOffset + reader.valueLength)
}

private[holdfast] object FamilyChanges {

  /** Kind, key, value or null, and batch. */
  type Change = (RecordType.Value, UnsafeRow, UnsafeRow, Long)

  private def row(fields: Int, bytes: Array[Byte]): UnsafeRow = {
    val row = new UnsafeRow(fields)
    row.pointTo(bytes, bytes.length)
    row
  }

  /** What a delta says of the list of a key. */
  final private class ChangedList(key: Array[Byte]) {
    var isRemoved = false
    val parts = mutable.TreeMap.empty[Int, Array[Byte]]

    def changes(format: RowFormat, batch: Long): Iterator[Change] = {
      val keyRow = row(format.keySchema.length, key)
      if (isRemoved) Iterator((RecordType.DELETE_RECORD, keyRow, null, batch))
      else {
        val isNew = parts.get(0).exists(part => ListPart.kept(part, 0) == 0)
        parts.valuesIterator.flatMap(newValues(format, _)).zipWithIndex.map { case (value, i) =>
          val kind = if (isNew && i == 0) RecordType.PUT_RECORD else RecordType.MERGE_RECORD
          (kind, keyRow, value, batch)
        }
      }
    }

    private def newValues(format: RowFormat, part: Array[Byte]): Iterator[UnsafeRow] = {
      var at = ListPart.HeaderBytes
      val values = Iterator.fill(ListPart.values(part, 0)) {
        val length = ListPart.length(part, at)
        val value = new UnsafeRow(format.valueSchema.length)
        value.pointTo(part, Platform.BYTE_ARRAY_OFFSET.toLong + at + ListPart.LengthBytes, length)
        at += ListPart.LengthBytes + length
        value
      }
      values.drop(ListPart.kept(part, 0))
    }
  }
}
