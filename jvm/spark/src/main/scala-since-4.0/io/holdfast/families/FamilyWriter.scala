package io.holdfast.families

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.holdfast.rows.{RowBytes, RowCounts, RowFormat, Unsupported}
import io.holdfast.table.{ListWriter, TableWriter}

/** Changes the rows of one column family of a store. For one thread. */
private[holdfast] trait FamilyWriter {

  def put(key: UnsafeRow, value: UnsafeRow): Unit

  def remove(key: UnsafeRow): Unit

  /** Changes the list of a key.
    *
    * @param append
    *   whether values are added to those that there are; else they take their place
    * @throws org.apache.spark.sql.execution.streaming.state.StateStoreUnsupportedOperationException
    *   if a key has one value
    */
  def change(operation: String, key: UnsafeRow, values: Array[UnsafeRow], append: Boolean): Unit

  /** Writes the values of a key again, which say in other columns what they say now.
    *
    * @param values
    *   all of them
    */
  def rewrite(key: UnsafeRow, values: Array[UnsafeRow]): Unit
}

/** Changes the rows of a family with one value for a key. */
final private[holdfast] class RowFamilyWriter(
    name: String,
    table: TableWriter,
    format: RowFormat,
    counts: RowCounts)
    extends FamilyWriter {
  private[this] val keyBytes = new RowBytes
  private[this] val valueBytes = new RowBytes

  override def put(key: UnsafeRow, value: UnsafeRow): Unit = {
    counts.puts += 1
    set(key, value)
    table.put(
      keyBytes.bytes,
      keyBytes.offset,
      keyBytes.length,
      valueBytes.bytes,
      valueBytes.offset,
      valueBytes.length + format.trailerBytes)
  }

  override def rewrite(key: UnsafeRow, values: Array[UnsafeRow]): Unit = {
    counts.puts += 1
    set(key, values(0))
    table.rewrite(
      keyBytes.bytes,
      keyBytes.offset,
      keyBytes.length,
      valueBytes.bytes,
      valueBytes.offset,
      valueBytes.length + format.trailerBytes)
  }

  private[this] def set(key: UnsafeRow, value: UnsafeRow): Unit = {
    keyBytes.set(key)
    if (format.checksums) valueBytes.setWithChecksum(value, keyBytes) else valueBytes.set(value)
  }

  override def remove(key: UnsafeRow): Unit = {
    counts.removes += 1
    keyBytes.set(key)
    table.remove(keyBytes.bytes, keyBytes.offset, keyBytes.length)
  }

  override def change(
      operation: String,
      key: UnsafeRow,
      values: Array[UnsafeRow],
      append: Boolean): Unit =
    throw Unsupported.unsupported(
      s"$operation on column family '$name', which has one value for a key")
}

/** Changes the rows of a family with several values for a key. */
final private[holdfast] class ListFamilyWriter(lists: ListWriter, counts: RowCounts)
    extends FamilyWriter {
  private[this] val keyBytes = new RowBytes
  private[this] val valueBytes = new RowBytes

  override def put(key: UnsafeRow, value: UnsafeRow): Unit =
    changeTo(key, append = false)(add(value))

  override def remove(key: UnsafeRow): Unit = {
    counts.removes += 1
    keyBytes.set(key)
    lists.remove(keyBytes.bytes, keyBytes.offset, keyBytes.length)
  }

  override def change(
      operation: String,
      key: UnsafeRow,
      values: Array[UnsafeRow],
      append: Boolean): Unit = changeTo(key, append)(addAll(values))

  override def rewrite(key: UnsafeRow, values: Array[UnsafeRow]): Unit = {
    counts.puts += 1
    keyBytes.set(key)
    lists.beginAgain(keyBytes.bytes, keyBytes.offset, keyBytes.length)
    finish(addAll(values))
  }

  private[this] def changeTo(key: UnsafeRow, append: Boolean)(values: => Unit): Unit = {
    counts.puts += 1
    keyBytes.set(key)
    lists.begin(keyBytes.bytes, keyBytes.offset, keyBytes.length, append)
    finish(values)
  }

  private[this] def finish(values: => Unit): Unit = {
    try values
    catch { case e: Throwable => lists.fail(e) }
    lists.finish()
  }

  private[this] def addAll(values: Array[UnsafeRow]): Unit = {
    var i = 0
    while (i < values.length) {
      add(values(i))
      i += 1
    }
  }

  private[this] def add(value: UnsafeRow): Unit = {
    valueBytes.set(value)
    lists.add(valueBytes.bytes, valueBytes.offset, valueBytes.length)
  }
}
