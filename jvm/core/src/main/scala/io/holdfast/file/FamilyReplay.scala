package io.holdfast.file

import io.holdfast.table.{Family, ListPart, RowOrder, TableWriter, Transaction}

/** Brings a file of a store with column families into a transaction: removals and definitions of
  * families, then the records. For the transaction's thread; one for each file.
  *
  * @param rowChecksums
  *   whether rows are kept with their checksum behind the value
  * @param orders
  *   how the keys of families are scanned
  */
final class FamilyReplay(
    rows: Transaction,
    reader: FamilyRecordReader,
    rowChecksums: Boolean,
    orders: FamilyReplay.Orders) {
  private[this] var tables = new Array[TableWriter](0)
  private[this] val trailed = new TrailedValue

  /** Applies all of the file, in order.
    *
    * @return
    *   number of records
    * @throws StateFileException
    *   if the file cannot be read to its end marker, or does not fit what came before it
    */
  def run(): Long = {
    val families = reader.families()
    families.removed.foreach(remove)
    families.defined.foreach(define)
    var records = 0L
    while (reader.next()) {
      val table = tableOf(reader.table)
      if (reader.isRemoval) table.remove(reader.bytes, reader.keyOffset, reader.keyLength)
      else put(table)
      records += 1
    }
    records
  }

  private def remove(id: Int): Unit = rows.families.withId(id) match {
    case Some(family) if id != 0 => rows.remove(family)
    case _ => reader.refuse(s"expected the id of a family that can be removed, found $id")
  }

  private def define(family: Family): Unit =
    try rows.define(family)
    catch { case e: IllegalArgumentException => reader.refuse(e.getMessage) }

  private[this] def tableOf(number: Int): TableWriter = {
    if (number >= tables.length) tables = java.util.Arrays.copyOf(tables, number + 1)
    if (tables(number) == null) tables(number) = open(number)
    tables(number)
  }

  private def open(number: Int): TableWriter = {
    val family = rows.families
      .withId(Family.idOfTable(number))
      .getOrElse(reader.refuse(s"expected a table of a family that is there, found table $number"))
    if (Family.hasParts(number)) {
      if (!family.hasManyValues) {
        reader.refuse(s"expected one value for a key of family '${family.name}', found lists")
      }
      rows.table(number)
    } else rows.table(number, orders.of(family))
  }

  private[this] def put(table: TableWriter): Unit = {
    val bytes = reader.bytes
    if (isList(reader.table)) checkList()
    if (rowChecksums) {
      val length = trailed.set(bytes, reader.valueOffset, reader.valueLength, checksum)
      table.put(bytes, reader.keyOffset, reader.keyLength, trailed.bytes, 0, length)
    } else {
      table.put(
        bytes,
        reader.keyOffset,
        reader.keyLength,
        bytes,
        reader.valueOffset,
        reader.valueLength)
    }
  }

  private[this] var listTable = -1
  private[this] var listTableHasLists = false

  private[this] def isList(number: Int): Boolean = {
    if (number != listTable) {
      listTable = number
      listTableHasLists = rows.families.withId(Family.idOfTable(number)).exists(_.hasManyValues)
    }
    listTableHasLists
  }

  private[this] def checkList(): Unit = {
    val problem = ListPart.problem(
      reader.bytes,
      reader.valueOffset,
      reader.valueLength,
      isFirst = !Family.hasParts(reader.table))
    if (problem != null) reader.refuse(problem)
  }

  private[this] def checksum: Int =
    if (reader.rowChecksums) reader.checksum
    else
      RowChecksum.of(
        reader.bytes,
        reader.keyOffset,
        reader.keyLength,
        reader.bytes,
        reader.valueOffset,
        reader.valueLength)
}

object FamilyReplay {

  /** What a store knows of how the keys of its families are scanned. */
  trait Orders {

    /** The order of a family, if it is scanned.
      *
      * @throws java.lang.RuntimeException
      *   if the family is not one that the store can have
      */
    def of(family: Family): Option[RowOrder]
  }
}
