package io.holdfast.rows

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.holdfast.table.RowCursor

/** Shows the rows whose keys are between two others, where keys that differ in more than their time have
  * no order: Spark's RocksDB provider compares them as bytes, and so is decided here which rows belong to
  * the range, row by row. They come in the order of the cursor, times of a prefix one after the other.
  *
  * No operator asks for this. It looks at all rows that the cursor shows, and allocates for each.
  *
  * @param from
  *   the lower bound, which belongs to the range
  * @param until
  *   the upper bound, which does not
  */
private[holdfast] final class TimesCursor(
    rows: RowCursor,
    order: TimesOfPrefixOrder,
    from: Option[UnsafeRow],
    until: Option[UnsafeRow])
    extends FilteredCursor(rows) {
  private[this] val encoder = order.newEncoder()
  private[this] val words = new Array[Long](order.words)
  private[this] val prefixes = order.newPrefixes()
  private[this] val bound = new RowBytes
  private[this] val start = from.map(key => bytesOf(key)).orNull
  private[this] val end = until.map(key => bytesOf(key)).orNull

  override protected def accepts(page: Array[Byte], keyOffset: Int, keyLength: Int): Boolean = {
    val key = bytesOf(page, keyOffset, keyLength)
    (start == null || ScanOrder.compare(key, start) >= 0) &&
    (end == null || ScanOrder.compare(key, end) < 0)
  }

  private[this] def bytesOf(key: UnsafeRow): Array[Byte] = {
    bound.set(key)
    bytesOf(bound.bytes, bound.offset, bound.length)
  }

  // The prefix as a row of its own, and then the time, as `TimestampAsPostfixKeyStateEncoder` of Spark
  // 4.2 puts them together.
  private[this] def bytesOf(key: Array[Byte], offset: Int, length: Int): Array[Byte] = {
    val prefix = prefixes.rest(key, offset, length)
    val bytes = java.util.Arrays.copyOf(prefix, prefix.length + java.lang.Long.BYTES)
    encoder.write(key, offset, length, words)
    ByteBuffer.wrap(bytes).putLong(prefix.length, words(1))
    bytes
  }
}
