package io.holdfast.testkit

import scala.collection.immutable.ArraySeq

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, UnsafeRowPair}
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** Rows as most tests use them: a name, which may be null, with a count and a note, which may be
  * null as well. For one thread at a time.
  */
object TestRows {

  val keySchema: StructType = new StructType().add("name", StringType)
  val valueSchema: StructType = new StructType().add("count", LongType).add("note", StringType)

  /** All rows of a version. */
  type State = Map[Row, Row]

  /** The bytes of a key or value, which show as its columns. */
  final case class Row(bytes: ArraySeq[Byte])(columns: => String) {
    override def toString: String = columns
  }

  private val keyOf = UnsafeProjection.create(keySchema)
  private val valueOf = UnsafeProjection.create(valueSchema)

  def key(name: String): UnsafeRow = row(keyOf, UTF8String.fromString(name))

  def value(count: Long, note: String = null): UnsafeRow =
    row(valueOf, count, UTF8String.fromString(note))

  def keyImage(key: UnsafeRow): Row = image(key)(nameOf(_))

  def valueImage(value: UnsafeRow): Row = image(value) { row =>
    val note = if (row.isNullAt(1)) "none" else s"${row.getUTF8String(1).numBytes} bytes"
    s"${row.getLong(0)} (note: $note)"
  }

  def state(store: ReadStateStore): State = state(store.iterator())

  def state(rows: Iterator[UnsafeRowPair]): State =
    rows.map(row => keyImage(row.key) -> valueImage(row.value)).toMap

  /** The rows of a store without their notes. */
  def counts(store: ReadStateStore): Map[String, Long] = counts(store.iterator())

  def counts(rows: Iterator[UnsafeRowPair]): Map[String, Long] =
    rows.map(row => nameOf(row.key) -> row.value.getLong(0)).toMap

  def count(store: ReadStateStore, name: String): Option[Long] =
    Option(store.get(key(name))).map(_.getLong(0))

  def nameOf(key: UnsafeRow): String = if (key.isNullAt(0)) null else key.getString(0)

  private def image(row: UnsafeRow)(columns: UnsafeRow => String): Row = {
    val copy = row.copy()
    Row(ArraySeq.unsafeWrapArray(copy.getBytes))(columns(copy))
  }

  private def row(projection: UnsafeProjection, columns: Any*): UnsafeRow =
    synchronized(projection(new GenericInternalRow(columns.toArray)).copy())
}
