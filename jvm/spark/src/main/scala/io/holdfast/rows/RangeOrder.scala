package io.holdfast.rows

import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._

import io.holdfast.table.RowOrder

/** Rows in the order of some key columns, as Spark's `RangeKeyScanStateEncoder` (Spark 4.2) orders
  * them: column after column, numbers by value and nulls last, floats and doubles by IEEE 754 total
  * order (so that a NaN without sign is above all numbers).
  *
  * A column takes a byte that tells null and then its value, most significant byte first and with
  * the sign turned, so that unsigned words compare as the values do.
  *
  * @param ordinals
  *   the ordering columns, first things first
  */
private[holdfast] final class RangeOrder(schema: StructType, ordinals: Seq[Int]) extends ScanOrder {
  private val columns: Array[RangeOrder.Column] = ordinals.map { ordinal =>
    RangeOrder.Column(ordinal, RangeOrder.kindOf(schema(ordinal), ordinal))
  }.toArray

  override val words: Int = (columns.map(1 + _.kind.bytes).sum + 7) / 8

  /** Number of ordering columns. */
  def count: Int = columns.length

  /** The same order of rows that have the ordering columns alone, first things first. */
  lazy val ofColumns: RangeOrder =
    new RangeOrder(StructType(ordinals.map(schema(_))), ordinals.indices)

  private val remaining = schema.indices.diff(ordinals)

  override def newEncoder(): RowOrder.Encoder = new RowOrder.Encoder {
    private[this] val row = new UnsafeRow(schema.length)
    private[this] val packer = new WordPacker

    override def write(
        key: Array[Byte],
        keyOffset: Int,
        keyLength: Int,
        into: Array[Long]): Unit = {
      ScanOrder.pointAt(row, key, keyOffset, keyLength)
      packer.begin(into)
      var i = 0
      while (i < columns.length) {
        val column = columns(i)
        val isNull = row.isNullAt(column.ordinal)
        packer.put(if (isNull) 1L else 0L, 1)
        packer.put(if (isNull) 0L else column.kind.ordered(row, column.ordinal), column.kind.bytes)
        i += 1
      }
    }
  }

  /** Compares keys by the columns that are not ordered by. For one thread. */
  def newTieBreaker(): TieBreaker = new TieBreaker(schema, remaining)
}

private[holdfast] object RangeOrder {

  /** A column type that can be ordered by.
    *
    * @param bytes
    *   its size
    */
  sealed abstract class Kind(val bytes: Int) {

    /** The value as an unsigned number of that many bytes that orders as the value does. */
    def ordered(row: UnsafeRow, ordinal: Int): Long
  }

  final case class Column(ordinal: Int, kind: Kind)

  private case object Booleans extends Kind(1) {
    override def ordered(row: UnsafeRow, ordinal: Int): Long =
      if (row.getBoolean(ordinal)) 1L else 0L
  }

  private case object ByteValues extends Kind(1) {
    override def ordered(row: UnsafeRow, ordinal: Int): Long = row.getByte(ordinal) ^ 0x80L
  }

  private case object Shorts extends Kind(2) {
    override def ordered(row: UnsafeRow, ordinal: Int): Long = row.getShort(ordinal) ^ 0x8000L
  }

  private case object Ints extends Kind(4) {
    override def ordered(row: UnsafeRow, ordinal: Int): Long = row.getInt(ordinal) ^ 0x80000000L
  }

  private case object Longs extends Kind(8) {
    override def ordered(row: UnsafeRow, ordinal: Int): Long = row.getLong(ordinal) ^ Long.MinValue
  }

  private case object Floats extends Kind(4) {
    override def ordered(row: UnsafeRow, ordinal: Int): Long = {
      val bits = java.lang.Float.floatToRawIntBits(row.getFloat(ordinal))
      (if (bits < 0) ~bits else bits ^ Int.MinValue).toLong
    }
  }

  private case object Doubles extends Kind(8) {
    override def ordered(row: UnsafeRow, ordinal: Int): Long = {
      val bits = java.lang.Double.doubleToRawLongBits(row.getDouble(ordinal))
      if (bits < 0) ~bits else bits ^ Long.MinValue
    }
  }

  private def kindOf(field: StructField, ordinal: Int): Kind = field.dataType match {
    case BooleanType => Booleans
    case ByteType => ByteValues
    case ShortType => Shorts
    case IntegerType => Ints
    case LongType => Longs
    case FloatType => Floats
    case DoubleType => Doubles
    case NullType => throw Unsupported.orderByNulls(field.name, ordinal)
    case _ => throw Unsupported.orderByVariableSize(field.name, ordinal)
  }
}

/** Packs byte strings of up to 8 bytes into words, most significant byte first. For one thread. */
private[holdfast] final class WordPacker {
  private[this] var words = new Array[Long](0)
  private[this] var word = 0
  private[this] var free = 8

  def begin(into: Array[Long]): Unit = {
    words = into
    java.util.Arrays.fill(words, 0L)
    word = 0
    free = 8
  }

  /** Appends the low `bytes` bytes of a value, 1 to 8. */
  def put(value: Long, bytes: Int): Unit = {
    var left = bytes
    while (left > 0) {
      if (free == 0) {
        word += 1
        free = 8
      }
      val take = math.min(left, free)
      val piece = value >>> (8 * (left - take))
      val masked = if (take == 8) piece else piece & ((1L << (8 * take)) - 1)
      words(word) |= masked << (8 * (free - take))
      free -= take
      left -= take
    }
  }

}

/** Gives some of the columns of keys as bytes to compare them by, which is how Spark's RocksDB provider
  * orders rows whose ordering columns are equal. For one thread.
  */
private[holdfast] final class TieBreaker(schema: StructType, ordinals: Seq[Int]) {
  private[this] val key = new UnsafeRow(schema.length)
  // Seldom needed, and to make it takes longer than most scans last.
  private[this] lazy val project = UnsafeProjection.create(ordinals.map { ordinal =>
    BoundReference(ordinal, schema(ordinal).dataType, schema(ordinal).nullable)
  })

  /** The columns of a key, in an array that the next call may use again. */
  def rest(of: UnsafeRow): Array[Byte] = project(of).getBytes

  def rest(bytes: Array[Byte], offset: Int, length: Int): Array[Byte] = {
    ScanOrder.pointAt(key, bytes, offset, length)
    rest(key)
  }
}
