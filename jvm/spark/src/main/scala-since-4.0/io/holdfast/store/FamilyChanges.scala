package io.holdfast.store

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.RecordType

import io.holdfast.checkpoint.VersionId
import io.holdfast.families.{DefinedFamilies, EvolvingRows, FamilyNames}
import io.holdfast.file.{FamilyRecordReader, StateFile}
import io.holdfast.table.{Family, FamilyChanges => SaidOfFamilies, ListPart}

/** The changes of one column family, as the change feed of the `statestore` source shows them: delta by
  * delta, those of a delta in memory at once. Of a list that was put the first value is an update and
  * the others are appended, and so are values that were added to a list. Of a family that was removed
  * nothing is shown, also where another of its name has come after it. All values are of the schema that
  * Spark has said that it reads them by, or else of the one that the family has in the end. No rows of a
  * version are read for it. For one thread.
  */
final private[holdfast] class FamilyChanges(store: StoreParts, feed: FeedFiles, name: String)
    extends Iterator[FamilyChanges.Change] {
  import FamilyChanges._

  private[this] val defined = DefinedFamilies.of(store.context)
  private[this] val said = mutable.Map.empty[VersionId, SaidOfFamilies]
  private[this] val history = {
    val before = new FindFamilyBefore(store, feed, name, saidBy).find()
    new FamilyHistory(name, feed.deltas, before, saidBy)
  }
  private[this] lazy val left = history.steps.iterator
  // By the definition that a delta leaves, of which there are few.
  private[this] val rowsOf = mutable.Map.empty[Family, EvolvingRows]
  private[this] var current = Iterator.empty[Change]

  /** @throws org.apache.spark.SparkUnsupportedOperationException
    *   if none of the versions has the family
    */
  override def hasNext: Boolean = {
    while (!current.hasNext && left.hasNext) current = (changesOf _).tupled(left.next())
    if (!current.hasNext && !history.isKnown) {
      throw FamilyNames.missing("getStateStoreChangeDataReader", name)
    }
    current.hasNext
  }

  override def next(): Change = {
    if (!hasNext) throw new NoSuchElementException("there are no more changes")
    current.next()
  }

  private def changesOf(delta: VersionId, family: Family): Iterator[Change] = read(delta) {
    reader =>
      val _ = reader.families()
      val rows = rowsOf.getOrElseUpdate(
        family,
        defined.evolving(family, defined.said(name).getOrElse(history.newest), history.end(family)))
      if (family.hasManyValues) lists(reader, family, rows, delta.number - 1)
      else single(reader, family, rows, delta.number - 1)
  }

  private def saidBy(delta: VersionId): SaidOfFamilies =
    said.getOrElseUpdate(delta, feed.read(delta)(store.files.families(StateFile.Delta, delta)))

  private def read[A](delta: VersionId)(use: FamilyRecordReader => A): A = {
    val raw = feed.read(delta)(store.files.open(StateFile.Delta, delta))
    store.files.readFamilies(StateFile.Delta, delta, raw)(use)
  }

  private def single(
      reader: FamilyRecordReader,
      family: Family,
      rows: EvolvingRows,
      batch: Long): Iterator[Change] = {
    val changes = mutable.ArrayBuffer.empty[Change]
    while (reader.next()) {
      if (reader.table == family.keyTable && !reader.isRewritten) {
        val key = rows.key(keyOf(reader))
        changes += (if (reader.isRemoval) (RecordType.DELETE_RECORD, key, null, batch)
                    else {
                      val value = valueOf(reader)
                      (RecordType.PUT_RECORD, key, rows.value(value, 0, value.length), batch)
                    })
      }
    }
    changes.iterator
  }

  // The parts of a list lie anywhere in the file.
  private def lists(
      reader: FamilyRecordReader,
      family: Family,
      rows: EvolvingRows,
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
    keys.valuesIterator.flatMap(_.changes(rows, batch))
  }

  private def keyOf(reader: FamilyRecordReader): Array[Byte] =
    reader.bytes.slice(reader.keyOffset, reader.keyOffset + reader.keyLength)

  private def valueOf(reader: FamilyRecordReader): Array[Byte] =
    reader.bytes.slice(reader.valueOffset, reader.valueOffset + reader.valueLength)
}

private[holdfast] object FamilyChanges {

  /** Kind, key, value or null, and batch. */
  type Change = (RecordType.Value, UnsafeRow, UnsafeRow, Long)

  /** What a delta says of the list of a key. */
  final private class ChangedList(key: Array[Byte]) {
    var isRemoved = false
    val parts = mutable.TreeMap.empty[Int, Array[Byte]]

    def changes(rows: EvolvingRows, batch: Long): Iterator[Change] = {
      val keyRow = rows.key(key)
      if (isRemoved) Iterator((RecordType.DELETE_RECORD, keyRow, null, batch))
      else {
        val isNew = parts.get(0).exists(ListPart.isRenewed(_, 0))
        parts.valuesIterator.flatMap(newValues(rows, _)).zipWithIndex.map { case (value, i) =>
          val kind = if (isNew && i == 0) RecordType.PUT_RECORD else RecordType.MERGE_RECORD
          (kind, keyRow, value, batch)
        }
      }
    }

    private def newValues(rows: EvolvingRows, part: Array[Byte]): Iterator[UnsafeRow] = {
      var at = ListPart.HeaderBytes
      val places = Iterator.fill(ListPart.values(part, 0)) {
        val length = ListPart.length(part, at)
        val place = (at + ListPart.LengthBytes, length)
        at += ListPart.LengthBytes + length
        place
      }
      places.drop(ListPart.kept(part, 0)).map { case (offset, length) =>
        rows.value(part, offset, length)
      }
    }
  }
}
