package io.holdfast

import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec
}
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.Platform

import io.holdfast.table.RowOrder

/** How the rows of a store can be scanned, as the operator's key encoder asks for it. */
private[holdfast] trait ScanOrder extends RowOrder

private[holdfast] object ScanOrder {

  /** The order for an encoder, or nothing for a store that is not scanned.
    *
    * @throws org.apache.spark.sql.execution.streaming.state.StateStoreUnsupportedOperationException
    *   if the encoder is of a kind that Holdfast does not support
    */
  def of(encoder: KeyStateEncoderSpec): Option[ScanOrder] = encoder match {
    case _: NoPrefixKeyStateEncoderSpec => None
    case PrefixKeyScanStateEncoderSpec(schema, columns) => Some(new PrefixOrder(schema, columns))
    case RangeKeyScanStateEncoderSpec(schema, ordinals) => Some(new RangeOrder(schema, ordinals))
    case other => throw RowAccess.unsupported(other.getClass.getSimpleName)
  }

  /** A projection of a key on some of its columns. For one thread. */
  def projection(schema: StructType, ordinals: Seq[Int]): UnsafeProjection =
    UnsafeProjection.create(ordinals.map { ordinal =>
      BoundReference(ordinal, schema(ordinal).dataType, schema(ordinal).nullable)
    })

  def pointAt(row: UnsafeRow, bytes: Array[Byte], offset: Int, length: Int): Unit =
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + offset, length)
}

/** Rows with the same leading key columns are neighbours: for prefix scans, which promise no order
  * among prefixes, so the one word is a hash of the prefix.
  *
  * @param columns
  *   number of leading columns
  */
private[holdfast] final class PrefixOrder(schema: StructType, val columns: Int) extends ScanOrder {
  override val words = 1

  override def newEncoder(): RowOrder.Encoder = new RowOrder.Encoder {
    private[this] val prefixes = new PrefixReader(schema, columns)
    private[this] val prefixBytes = new RowBytes

    override def write(key: Array[Byte], keyOffset: Int, keyLength: Int, into: Array[Long]): Unit =
      into(0) = PrefixOrder.hash(prefixBytes.set(prefixes.of(key, keyOffset, keyLength)))
  }

  def newPrefixReader(): PrefixReader = new PrefixReader(schema, columns)
}

private[holdfast] object PrefixOrder {
  def hash(prefix: RowBytes): Long = RowOrder.hash(prefix.bytes, prefix.offset, prefix.length)
}

/** Takes the prefix out of keys. The row it returns is reused. For one thread. */
private[holdfast] final class PrefixReader(schema: StructType, columns: Int) {
  private[this] val key = new UnsafeRow(schema.length)
  private[this] val project = ScanOrder.projection(schema, 0 until columns)

  def of(bytes: Array[Byte], offset: Int, length: Int): UnsafeRow = {
    ScanOrder.pointAt(key, bytes, offset, length)
    project(key)
  }
}
