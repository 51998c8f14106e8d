package io.holdfast

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.holdfast.table.{RowCursor, RowOrder, RowRecord, Rows}

/** Walks over a part of the rows. What a store's order leaves open, a filter settles: a prefix is
  * looked up by its hash, and a range can begin or end among keys with equal ordering columns.
  */
private[holdfast] object Scans {

  def prefix(rows: Rows, order: PrefixOrder, prefix: UnsafeRow): RowCursor = {
    val wanted = prefix.copy()
    val hash = PrefixOrder.hash(new RowBytes().set(wanted))
    val prefixes = order.newPrefixReader()
    val candidates = rows.scan(Some(Array(hash)), above(Array(hash)))
    new FilteredCursor(candidates) {
      override protected def accepts(page: Array[Byte], keyOffset: Int, keyLength: Int): Boolean =
        prefixes.of(page, keyOffset, keyLength) == wanted
    }
  }

  def range(
      rows: Rows,
      order: RangeOrder,
      start: Option[UnsafeRow],
      end: Option[UnsafeRow]): RowCursor = {
    val encoder = order.newEncoder()
    val from = start.map(wordsOf(encoder, order, _))
    val until = end.map(wordsOf(encoder, order, _))
    val ties = order.newTieBreaker()
    // The upper bound's own words are let in, and ties with either bound are told apart by the rest.
    new RangeCursor(
      rows.scan(from, until.flatMap(above)),
      encoder,
      ties,
      from.orNull,
      start.map(ties.rest).orNull,
      until.orNull,
      end.map(ties.rest).orNull)
  }

  // The smallest words above these, or nothing if there are none.
  private def above(words: Array[Long]): Option[Array[Long]] = {
    val next = words.clone()
    var i = next.length - 1
    next(i) += 1
    while (i > 0 && next(i) == 0L) {
      i -= 1
      next(i) += 1
    }
    Option.when(i > 0 || next(0) != 0L)(next)
  }

  private def wordsOf(encoder: RowOrder.Encoder, order: RangeOrder, key: UnsafeRow): Array[Long] = {
    val bytes = new RowBytes().set(key)
    val words = new Array[Long](order.words)
    encoder.write(bytes.bytes, bytes.offset, bytes.length, words)
    words
  }
}

/** Shows those rows of a cursor that a test accepts. */
private[holdfast] abstract class FilteredCursor(rows: RowCursor) extends RowCursor {
  protected def accepts(page: Array[Byte], keyOffset: Int, keyLength: Int): Boolean

  override def next(): Boolean = {
    while (rows.next()) {
      val accepted = accepts(
        rows.page,
        RowRecord.keyOffset(rows.offset),
        RowRecord.keyLength(rows.page, rows.offset))
      if (accepted) return true
    }
    false
  }

  override def page: Array[Byte] = rows.page

  override def offset: Int = rows.offset
}

/** Shows the rows of a range. A bound is given as its words and the bytes of its other columns, both
  * null if there is none.
  */
private[holdfast] final class RangeCursor(
    rows: RowCursor,
    encoder: RowOrder.Encoder,
    ties: TieBreaker,
    from: Array[Long],
    fromRest: Array[Byte],
    until: Array[Long],
    untilRest: Array[Byte])
    extends FilteredCursor(rows) {
  private[this] val words =
    new Array[Long](if (from != null) from.length else if (until != null) until.length else 0)

  override protected def accepts(page: Array[Byte], keyOffset: Int, keyLength: Int): Boolean =
    if (words.length == 0) true
    else {
      encoder.write(page, keyOffset, keyLength, words)
      val atStart = from != null && java.util.Arrays.equals(from, words)
      val atEnd = until != null && java.util.Arrays.equals(until, words)
      if (!atStart && !atEnd) true
      else {
        val rest = ties.rest(page, keyOffset, keyLength)
        (!atStart || java.util.Arrays.compareUnsigned(rest, fromRest) >= 0) &&
        (!atEnd || java.util.Arrays.compareUnsigned(rest, untilRest) < 0)
      }
    }
}
