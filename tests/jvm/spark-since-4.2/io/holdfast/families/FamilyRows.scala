package io.holdfast.families

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** Keys of column families: the name of a group, and a time in it. */
object FamilyRows {
  val keySchema: StructType = new StructType().add("group", StringType).add("time", LongType)

  /** A row, by the bytes of its key and value. */
  type Pair = (Seq[Byte], Seq[Byte])

  def key(group: Int, time: Long): UnsafeRow =
    project(keySchema, UTF8String.fromString(s"group $group"), time)

  /** What prefixes of groups look like. */
  def group(number: Int): UnsafeRow =
    project(StructType(keySchema.take(1)), UTF8String.fromString(s"group $number"))

  /** What prefixes of times look like. */
  def time(time: Long): UnsafeRow = project(StructType(keySchema.drop(1)), time)

  def pairs(rows: StateStoreIterator[UnsafeRowPair]): Seq[Pair] =
    try rows.map(row => bytes(row.key) -> bytes(row.value)).toVector
    finally rows.close()

  /** Rows in the order of their times, those of the same time in any, but for the values of a key. */
  def byTime(rows: Seq[Pair]): Seq[(Long, Map[Seq[Byte], Seq[Pair]])] = {
    val times = rows.map(row => timeOf(row._1))
    val changes = times.indices.filter(i => i == 0 || times(i) != times(i - 1))
    changes.zip(changes.drop(1) :+ rows.size).map { case (from, until) =>
      times(from) -> rows.slice(from, until).groupBy(_._1)
    }
  }

  /** Groups in any order, and the rows of each in the order of their times. */
  def byGroup(rows: Seq[Pair]): Map[String, Seq[(Long, Map[Seq[Byte], Seq[Pair]])]] =
    rows.groupBy(row => keyOf(row._1).getString(0)).map { case (group, rows) =>
      group -> byTime(rows)
    }

  private def timeOf(key: Seq[Byte]): Long = keyOf(key).getLong(1)

  private def keyOf(key: Seq[Byte]): UnsafeRow = {
    val row = new UnsafeRow(keySchema.length)
    row.pointTo(key.toArray, key.size)
    row
  }

  def bytes(row: UnsafeRow): Seq[Byte] = if (row == null) null else row.getBytes.toVector

  private def project(schema: StructType, columns: Any*): UnsafeRow =
    UnsafeProjection.create(schema)(new GenericInternalRow(columns.toArray)).copy()
}
