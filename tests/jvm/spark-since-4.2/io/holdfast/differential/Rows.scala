package io.holdfast.differential

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** A key of a script's store. Either column may be null. */
final case class Key(group: String, name: String)

/** A value of a script's store. The note may be null. */
final case class Value(count: Long, note: String) {
  override def toString: String =
    s"Value($count, ${Option(note).fold("null")(text => s"${text.length} characters")})"
}

/** Rows of scripts as Spark has them. Any thread may call. */
object Rows {

  /** All rows of a version. */
  type State = Map[Key, Value]

  val keySchema: StructType = new StructType().add("group", StringType).add("name", StringType)
  val valueSchema: StructType = new StructType().add("count", LongType).add("note", StringType)

  /** Columns of the key that a prefix has. */
  val PrefixColumns = 1

  private val keyOf = projection(keySchema)
  private val prefixOf = projection(StructType(keySchema.take(PrefixColumns)))
  private val valueOf = projection(valueSchema)

  def key(key: Key): UnsafeRow = row(keyOf, string(key.group), string(key.name))

  def prefix(group: String): UnsafeRow = row(prefixOf, string(group))

  def value(value: Value): UnsafeRow = row(valueOf, value.count, string(value.note))

  def keyOf(row: UnsafeRow): Key = Key(string(row, 0), string(row, 1))

  def valueOf(row: UnsafeRow): Value = Value(row.getLong(0), string(row, 1))

  def state(rows: Iterator[UnsafeRowPair]): State =
    rows.map(pair => keyOf(pair.key) -> valueOf(pair.value)).toMap

  private def projection(schema: StructType): ThreadLocal[UnsafeProjection] =
    ThreadLocal.withInitial(() => UnsafeProjection.create(schema))

  private def row(projection: ThreadLocal[UnsafeProjection], columns: Any*): UnsafeRow =
    projection.get()(new GenericInternalRow(columns.toArray)).copy()

  private def string(text: String): UTF8String = UTF8String.fromString(text)

  private def string(row: UnsafeRow, column: Int): String =
    if (row.isNullAt(column)) null else row.getString(column)
}
