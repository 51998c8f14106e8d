package io.holdfast.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.holdfast.table.{RowCursor, RowOrder, RowRecord, Rows, ScanCursor}

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

  /** The rows from one key, which belongs to the range, to another, which does not: times of a prefix, or
    * where the bounds are not of one prefix what [[TimesCursor]] says of each row.
    */
  def timesBetween(
      rows: Rows,
      order: TimesOfPrefixOrder,
      keyFields: Int,
      start: Option[UnsafeRow],
      end: Option[UnsafeRow]): RowCursor = {
    // Callers reuse their rows.
    val from = start.map(new RowBytes().copyWithRoom(_, room = 0))
    val until = end.map(new RowBytes().copyWithRoom(_, room = 0))
    (from, until) match {
      case (Some(first), Some(last)) if areOfOnePrefix(order, keyFields, first, last) =>
        val encoder = order.newEncoder()
        def words(key: RowBytes): Some[Array[Long]] = {
          val made = new Array[Long](order.words)
          encoder.write(key.bytes, key.offset, key.length, made)
          Some(made)
        }
        withPrefix(rows.scan(words(first), words(last)), order.columns, keyFields, first, keyFields)
      case _ => new TimesCursor(rows.scan(None, None), order, start, end)
    }
  }

  private def areOfOnePrefix(
      order: TimesOfPrefixOrder,
      keyFields: Int,
      one: RowBytes,
      other: RowBytes): Boolean =
    order.columns.equal(one.bytes, one.offset, keyFields, other.bytes, other.offset, keyFields)

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

  /** The rows from one key, which belongs to the range, to another, which does not.
    *
    * @param ties
    *   for rows whose ordering columns are those of a bound
    */
  def range(
      rows: Rows,
      order: RangeOrder,
      ties: TieBreaker,
      start: Option[UnsafeRow],
      end: Option[UnsafeRow]): RowCursor = {
    val encoder = order.newEncoder()
    val from = start.map(key => new RangeBound(order, ties, encoder, key.copy()))
    val until = end.map(key => new RangeBound(order, ties, encoder, key.copy()))
    // The upper bound's own words are let in, and ties with either bound are told apart by the rest.
    new RangeCursor(
      rows.scan(from.map(_.words), until.flatMap(bound => above(bound.words))),
      ties,
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
    ties: TieBreaker,
    encoder: RowOrder.Encoder,
    key: UnsafeRow) {

  val words: Array[Long] = {
    val bytes = new RowBytes().set(key)
    val made = new Array[Long](order.words)
    encoder.write(bytes.bytes, bytes.offset, bytes.length, made)
    made
  }

  // Only needed where a row agrees with the bound. The array that it is made in has others after it.
  lazy val rest: Array[Byte] = ties.rest(key).clone()
}

/** Shows the rows of a range. A bound is null if there is none. */
private[holdfast] final class RangeCursor(
    rows: ScanCursor,
    ties: TieBreaker,
    from: RangeBound,
    until: RangeBound)
    extends FilteredCursor(rows) {

  override protected def accepts(page: Array[Byte], keyOffset: Int, keyLength: Int): Boolean =
    (from == null || !rows.isAt(from.words) ||
      compareRest(page, keyOffset, keyLength, from.rest) >= 0) &&
      (until == null || !rows.isAt(until.words) ||
        compareRest(page, keyOffset, keyLength, until.rest) < 0)

  private[this] def compareRest(
      page: Array[Byte],
      keyOffset: Int,
      keyLength: Int,
      bound: Array[Byte]): Int =
    ScanOrder.compare(ties.rest(page, keyOffset, keyLength), bound)
}
