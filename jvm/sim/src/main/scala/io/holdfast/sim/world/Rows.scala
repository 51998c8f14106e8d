package io.holdfast.sim.world

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.types.{BinaryType, LongType, StructType}

import io.holdfast.table.EventTime

/** A key of the model: rows of one group have a prefix in common. */
final case class Key(group: Long, id: Long)

/** A value of the model. */
final case class Value(count: Long, time: Long)

/** The rows of stores, and what they stand for. For one thread. */
final class Rows(noteBytes: Int) {
  private[this] val note = Array.tabulate[Byte](noteBytes)(i => (i * 31).toByte)
  private[this] val keys = new UnsafeRowWriter(2)
  private[this] val prefixes = new UnsafeRowWriter(1)
  private[this] val values = new UnsafeRowWriter(3, noteBytes + 16)
  private[this] val wideValues = new UnsafeRowWriter(4, noteBytes + 16)

  /** A row that the next call overwrites. */
  def key(key: Key): UnsafeRow = {
    keys.reset()
    keys.write(0, key.group)
    keys.write(1, key.id)
    keys.getRow
  }

  def prefix(group: Long): UnsafeRow = {
    prefixes.reset()
    prefixes.write(0, group)
    prefixes.getRow
  }

  def value(value: Value): UnsafeRow = written(values, value).getRow

  /** As [[value]], perhaps with a column more, which has the count too. */
  def value(value: Value, wide: Boolean): UnsafeRow =
    if (!wide) this.value(value)
    else {
      written(wideValues, value).write(3, value.count)
      wideValues.getRow
    }

  private[this] def written(into: UnsafeRowWriter, value: Value): UnsafeRowWriter = {
    into.reset()
    into.zeroOutNullBytes()
    into.write(0, value.count)
    into.write(1, value.time)
    into.write(2, note)
    into
  }

  /** Whether a row has as many columns as it should. What it has more may be missing, if it was made of
    * one that had less.
    */
  def isValue(row: UnsafeRow, wide: Boolean): Boolean = {
    val fields = if (wide) 4 else 3
    row.numFields == fields && row.getSizeInBytes == 8 * (1 + fields + (noteBytes + 7) / 8) &&
    (!wide || row.isNullAt(3) || row.getLong(3) == row.getLong(0))
  }
}

object Rows {

  val keySchema: StructType = new StructType().add("group", LongType).add("id", LongType)
  val valueSchema: StructType =
    new StructType().add("count", LongType).add("time", LongType).add("note", BinaryType)
  val wideValueSchema: StructType = valueSchema.add("again", LongType)

  /** Where the time of a row lies. */
  val At: EventTime = EventTime(inKey = false, EventTime.Column(fields = 3, ordinal = 1))

  def keyOf(row: UnsafeRow): Key = Key(row.getLong(0), row.getLong(1))
  def valueOf(row: UnsafeRow): Value = Value(row.getLong(0), row.getLong(1))
}
