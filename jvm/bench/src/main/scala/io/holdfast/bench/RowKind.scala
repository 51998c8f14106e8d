package io.holdfast.bench

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{SpecificInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec
}
import org.apache.spark.sql.types.{LongType, StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** Rows of one shape. The row objects are reused from call to call, and what they hold is not boxed, as
  * where Spark makes rows. For one thread.
  */
sealed abstract class RowKind(
    val name: String,
    val keySchema: StructType,
    val valueSchema: StructType) {
  private val keyProjection = UnsafeProjection.create(keySchema)
  private val valueProjection = UnsafeProjection.create(valueSchema)

  /** Makes the prefix that finds a row's group, in stores that are scanned. */
  def prefix: Option[Long => UnsafeRow] = None

  /** How the provider is to keep the keys. */
  def encoder: KeyStateEncoderSpec = NoPrefixKeyStateEncoderSpec(keySchema)

  final def key(number: Long): UnsafeRow = keyProjection(keyOf(number))
  final def value(number: Long): UnsafeRow = valueProjection(valueOf(number))

  protected def keyOf(number: Long): InternalRow
  protected def valueOf(number: Long): InternalRow

  protected final def scattered(number: Long): Long = LongRows.scattered(number)
}

object RowKind {
  private def longs(prefix: String, count: Int): StructType =
    StructType((1 to count).map(i => StructField(s"$prefix$i", LongType)))

  /** One long -> two longs: 40 bytes, an aggregation by id. */
  final class Small extends RowKind("small", longs("key", 1), longs("value", 2)) {
    private val keyRow = new SpecificInternalRow(keySchema)
    private val valueRow = new SpecificInternalRow(valueSchema)

    override protected def keyOf(number: Long): InternalRow = {
      keyRow.setLong(0, scattered(number))
      keyRow
    }

    override protected def valueOf(number: Long): InternalRow = {
      valueRow.setLong(0, number)
      valueRow.setLong(1, number + 1)
      valueRow
    }
  }

  /** A string of 20 bytes -> ten longs: an aggregation by name with ten results. */
  final class Large
      extends RowKind(
        "large",
        StructType(Seq(StructField("key", StringType))),
        longs("value", 10)) {
    private val keyRow = new SpecificInternalRow(keySchema)
    private val valueRow = new SpecificInternalRow(valueSchema)

    override protected def keyOf(number: Long): InternalRow = {
      keyRow.update(0, UTF8String.fromString(f"${scattered(number)}%020x"))
      keyRow
    }

    override protected def valueOf(number: Long): InternalRow = {
      var column = 0
      while (column < 10) {
        valueRow.setLong(column, number + column)
        column += 1
      }
      valueRow
    }
  }

  /** Two longs -> two longs, ten rows with the same first one: sessions of users. */
  final class Grouped extends RowKind("grouped", longs("key", 2), longs("value", 2)) {
    private val keyRow = new SpecificInternalRow(keySchema)
    private val prefixSchema = longs("key", 1)
    private val prefixRow = new SpecificInternalRow(prefixSchema)
    private val valueRow = new SpecificInternalRow(valueSchema)
    private val prefixProjection = UnsafeProjection.create(prefixSchema)

    override val prefix: Option[Long => UnsafeRow] = Some { number =>
      prefixRow.setLong(0, scattered(number / GroupRows))
      prefixProjection(prefixRow)
    }

    override def encoder: KeyStateEncoderSpec = PrefixKeyScanStateEncoderSpec(keySchema, 1)

    override protected def keyOf(number: Long): InternalRow = {
      keyRow.setLong(0, scattered(number / GroupRows))
      keyRow.setLong(1, number % GroupRows)
      keyRow
    }

    override protected def valueOf(number: Long): InternalRow = {
      valueRow.setLong(0, number)
      valueRow.setLong(1, number + 1)
      valueRow
    }
  }

  private val GroupRows = 10L

  def named(name: String): RowKind = name match {
    case "small" => new Small
    case "large" => new Large
    case "grouped" => new Grouped
    case _ =>
      throw new IllegalArgumentException(
        s"no rows are named $name; there are small, large, grouped")
  }
}
