package io.holdfast.store

import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec
import org.apache.spark.sql.execution.streaming.state.holdfast.ValueEvolution
import org.apache.spark.sql.types.StructType

import io.holdfast.families.{
  DefinedFamilies,
  EvolvedFamily,
  FamilyDefinition,
  FamilyNames,
  FamilyWriter,
  ListFamilyWriter,
  ListRowReader,
  OpenFamilies,
  RowFamilyWriter,
  TimersAhead
}
import io.holdfast.rows.{RowCounts, RowFormat, RowReader}
import io.holdfast.table.{Family, ListWriter, RowCursor, Rows}
import io.holdfast.versions.{StartingVersion, StoreUsage}

/** A version of a store with column families for making the next one. For one thread. */
private[holdfast] class FamilyStateStore(
    start: StartingVersion,
    usage: StoreUsage,
    store: StoreParts)
    extends HoldfastStateStore(start, usage, store) {
  import FamilyStateStore._

  private[this] val defined = DefinedFamilies.of(context)
  private[this] val open = new OpenFamilies[Opened](openFamily)
  defined.defineDefault(transaction)
  // A task in Python leaves its store to the thread of its state server.
  transaction.handOver()

  final override protected def readerOf(operation: String, colFamilyName: String): RowReader =
    open(operation, colFamilyName).reader

  final override protected def writerOf(operation: String, colFamilyName: String): FamilyWriter = {
    checkUpdating(operation)
    open(operation, colFamilyName).writer
  }

  final override def createColFamilyIfAbsent(
      colFamilyName: String,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean): Unit = {
    checkUpdating("create_col_family")
    FamilyNames.check("create_col_family", colFamilyName, isInternal)
    val before = transaction.families.get(colFamilyName)
    val definition = FamilyDefinition(
      colFamilyName,
      keySchema,
      valueSchema,
      keyStateEncoderSpec,
      useMultipleValuesPerKey,
      isInternal)
    defined.define(transaction, definition).foreach(evolve(_, definition))
    if (transaction.families.get(colFamilyName) != before) open.forget(colFamilyName)
    // Timers are defined where the store was opened.
    transaction.handOver()
  }

  final override def removeColFamilyIfExists(colFamilyName: String): Boolean = {
    checkUpdating("remove_col_family")
    FamilyNames.check("remove_col_family", colFamilyName, isInternal = false)
    val family = transaction.families.get(colFamilyName)
    family.foreach { family =>
      transaction.remove(family)
      open.forget(colFamilyName)
    }
    family.isDefined
  }

  override protected def familyNames: Set[String] = transaction.families.all.map(_.name).toSet

  // Rows that are not written again are none of the family as it is defined by now.
  private def evolve(before: Family, definition: FamilyDefinition): Unit =
    try {
      val evolution =
        new ValueEvolution(defined.format(before).valueSchema, definition.valueSchema)
      // What is done for the operator is not counted as what the operator does.
      val uncounted = new RowCounts
      val after = transaction.families.get(definition.name).get
      val reader = opened(before, uncounted).reader
      new EvolvedFamily(evolution, reader, opened(after, uncounted).writer)
        .write(before.hasManyValues)
    } catch { case e: Throwable => transaction.fail(e) }

  private def openFamily(operation: String, name: String): Opened = {
    val family =
      transaction.families.get(name).getOrElse(throw FamilyNames.missing(operation, name))
    opened(family, counts)
  }

  private def rowReader(
      family: Family,
      format: RowFormat,
      rows: Rows,
      counts: RowCounts): RowReader =
    TimersAhead
      .familyByKey(family, format.keySchema)
      .flatMap(transaction.families.get(_))
      .fold(new RowReader(format, rows, counts, walks)) { byKey =>
        val others = transaction.table(byKey.keyTable, defined.format(byKey).order)
        new RowReader(format, rows, counts, walks) {
          override protected def ofRange(found: RowCursor): RowCursor =
            new TimersAhead(found, others)
        }
      }

  private def opened(family: Family, counts: RowCounts): Opened = {
    val format = defined.format(family)
    val rows = transaction.table(family.keyTable, format.order)
    if (family.hasManyValues) {
      val parts = transaction.table(family.partTable)
      Opened(
        new ListRowReader(format, rows, parts, counts, walks),
        new ListFamilyWriter(new ListWriter(rows, parts, format.checksums), counts))
    } else {
      Opened(
        rowReader(family, format, rows, counts),
        new RowFamilyWriter(family.name, rows, format, counts))
    }
  }
}

private object FamilyStateStore {

  /** What reads and changes a family. */
  final case class Opened(reader: RowReader, writer: FamilyWriter)
}
