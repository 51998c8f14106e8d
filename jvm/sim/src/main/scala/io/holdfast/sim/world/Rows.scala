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

  def value(value: Value): UnsafeRow = {
    values.reset()
    values.zeroOutNullBytes()
    values.write(0, value.count)
    values.write(1, value.time)
    values.write(2, note)
    values.getRow
  }
}

object Rows {

  /** What a version holds. */
  type Content = Map[Key, Value]

  val keySchema: StructType = new StructType().add("group", LongType).add("id", LongType)
  val valueSchema: StructType =
    new StructType().add("count", LongType).add("time", LongType).add("note", BinaryType)

  /** Where the time of a row lies. */
  val At: EventTime = EventTime(inKey = false, EventTime.Column(fields = 3, ordinal = 1))

  def keyOf(row: UnsafeRow): Key = Key(row.getLong(0), row.getLong(1))
  def valueOf(row: UnsafeRow): Value = Value(row.getLong(0), row.getLong(1))
}
