package io.holdfast.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.holdfast.table.{RowCursor, RowOrder, RowRecord, Rows}

/** Walks over a part of the rows. What a store's order leaves open, a filter settles: a prefix is
  * looked up by its hash, and a range can begin or end among keys with equal ordering columns.
  */
private[holdfast] object Scans {

  def prefix(rows: Rows, order: PrefixOrder, keyFields: Int, prefix: UnsafeRow): RowCursor = {
    // Callers reuse their rows.
    val wanted = new RowBytes().copyWithRoom(prefix, room = 0)
    val hash = order.columns.hash(wanted.bytes, wanted.offset, order.count)
    val candidates = rows.scan(Some(Array(hash)), above(Array(hash)))
    withPrefix(candidates, order.columns, keyFields, wanted, order.count)
  }

  /** The rows of a prefix in the order of their times. */
  def timesOf(
      rows: Rows,
      order: TimesOfPrefixOrder,
      keyFields: Int,
      prefix: UnsafeRow): RowCursor = {
    val wanted = new RowBytes().copyWithRoom(prefix, room = 0)
    val hash = order.columns.hash(wanted.bytes, wanted.offset, order.count)
    val until = above(Array(hash)).map(_ :+ 0L)
    val candidates = rows.scan(Some(Array(hash, 0L)), until)
    withPrefix(candidates, order.columns, keyFields, wanted, order.count)
  }

  /** The rows from one time of a prefix, which belongs to the range, to another, which does not.
    *
    * @throws java.lang.IllegalArgumentException
    *   if the bounds are not of one prefix: prefixes have no order
    */
  def timesBetween(
      rows: Rows,
      order: TimesOfPrefixOrder,
      keyFields: Int,
      start: Option[UnsafeRow],
      end: Option[UnsafeRow]): RowCursor = {
    val encoder = order.newEncoder()
    def bound(key: Option[UnsafeRow]): (RowBytes, Array[Long]) = {
      val bytes = new RowBytes().copyWithRoom(
        key.getOrElse(throw new IllegalArgumentException("a range of times has two bounds")),
        room = 0)
      val words = new Array[Long](order.words)
      encoder.write(bytes.bytes, bytes.offset, bytes.length, words)
      (bytes, words)
    }
    val (from, fromWords) = bound(start)
    val (until, untilWords) = bound(end)
    require(
      order.columns
        .equal(from.bytes, from.offset, keyFields, until.bytes, until.offset, keyFields),
      "a range of times has bounds of one key, for keys have no order")
    withPrefix(
      rows.scan(Some(fromWords), Some(untilWords)),
      order.columns,
      keyFields,
      from,
      keyFields)
  }

  private def withPrefix(
      candidates: RowCursor,
      columns: PrefixColumns,
      keyFields: Int,
      wanted: RowBytes,
      wantedFields: Int): RowCursor =
    new FilteredCursor(candidates) {
      override protected def accepts(page: Array[Byte], keyOffset: Int, keyLength: Int): Boolean =
        columns.equal(page, keyOffset, keyFields, wanted.bytes, wanted.offset, wantedFields)
    }

  /** The rows whose ordering columns are these. */
  def withColumns(rows: Rows, order: RangeOrder, columns: UnsafeRow): RowCursor = {
    val bytes = new RowBytes().set(columns)
    val words = new Array[Long](order.words)
    order.ofColumns.newEncoder().write(bytes.bytes, bytes.offset, bytes.length, words)
    rows.scan(Some(words), above(words))
  }

  def range(
      rows: Rows,
      order: RangeOrder,
      start: Option[UnsafeRow],
      end: Option[UnsafeRow]): RowCursor = {
    val encoder = order.newEncoder()
    val from = start.map(key => new RangeBound(order, encoder, key.copy()))
    val until = end.map(key => new RangeBound(order, encoder, key.copy()))
    // The upper bound's own words are let in, and ties with either bound are told apart by the rest.
    new RangeCursor(
      rows.scan(from.map(_.words), until.flatMap(bound => above(bound.words))),
      order,
      encoder,
      from.orNull,
      until.orNull)
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
    if (i > 0 || next(0) != 0L) Some(next) else None
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

  override def close(): Unit = rows.close()
}

/** A bound of a range: the words of its ordering columns, and the bytes of the others. */
private[holdfast] final class RangeBound(
    order: RangeOrder,
    encoder: RowOrder.Encoder,
    key: UnsafeRow) {

  val words: Array[Long] = {
    val bytes = new RowBytes().set(key)
    val made = new Array[Long](order.words)
    encoder.write(bytes.bytes, bytes.offset, bytes.length, made)
    made
  }

  // Seldom needed, and the projection that makes it takes longer to make than most scans last.
  lazy val rest: Array[Byte] = order.newTieBreaker().rest(key)
}

/** Shows the rows of a range. A bound is null if there is none. */
private[holdfast] final class RangeCursor(
    rows: RowCursor,
    order: RangeOrder,
    encoder: RowOrder.Encoder,
    from: RangeBound,
    until: RangeBound)
    extends FilteredCursor(rows) {
  private[this] val words = new Array[Long](order.words)
  private[this] lazy val ties = order.newTieBreaker()

  override protected def accepts(page: Array[Byte], keyOffset: Int, keyLength: Int): Boolean =
    if (from == null && until == null) true
    else {
      encoder.write(page, keyOffset, keyLength, words)
      val atStart = from != null && java.util.Arrays.equals(from.words, words)
      val atEnd = until != null && java.util.Arrays.equals(until.words, words)
      if (!atStart && !atEnd) true
      else {
        val rest = ties.rest(page, keyOffset, keyLength)
        (!atStart || compare(rest, from.rest) >= 0) &&
        (!atEnd || compare(rest, until.rest) < 0)
      }
    }

  // As unsigned bytes; a row that another one begins with comes first.
  private[this] def compare(left: Array[Byte], right: Array[Byte]): Int = {
    val length = math.min(left.length, right.length)
    var i = 0
    while (i < length && left(i) == right(i)) i += 1
    if (i < length) (left(i) & 0xff) - (right(i) & 0xff) else left.length - right.length
  }
}
