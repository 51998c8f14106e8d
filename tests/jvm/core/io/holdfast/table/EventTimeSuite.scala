package io.holdfast.table

import java.nio.{ByteBuffer, ByteOrder}

import org.scalatest.funsuite.AnyFunSuite

/** Reads times out of rows that are laid out like Spark's. */
class EventTimeSuite extends AnyFunSuite {
  import EventTime.{Always, Column, Never}

  // A row of columns that are null or a word.
  private def row(columns: Option[Long]*): Array[Byte] = {
    val nulls = new Array[Long]((columns.size + 63) / 64)
    columns.zipWithIndex.foreach { case (column, i) =>
      if (column.isEmpty) nulls(i / 64) |= 1L << (i % 64)
    }
    words(nulls.toSeq ++ columns.map(_.getOrElse(0L)): _*)
  }

  private def words(all: Long*): Array[Byte] = {
    val buffer = ByteBuffer.allocate(8 * all.size).order(ByteOrder.nativeOrder())
    all.foreach(buffer.putLong)
    buffer.array()
  }

  // The row lies somewhere between other bytes, as in a page.
  private def read(time: EventTime, key: Array[Byte], value: Array[Byte]): Long = {
    val page = Array.fill[Byte](3)(-1) ++ key ++ value ++ Array.fill[Byte](64)(-1)
    time.read(page, 3, key.length, page, 3 + key.length, value.length)
  }

  test("a time is a column of the key or of the value") {
    val key = row(Some(7L), Some(11L))
    val value = row(Some(13L))
    assert(read(EventTime(inKey = true, Column(2, 1)), key, value) === 11L)
    assert(read(EventTime(inKey = false, Column(1, 0)), key, value) === 13L)
  }

  test("a column behind the 64th has its bit of null in the second word") {
    val columns = (0 until 70).map(i => Option.when(i != 1)(i.toLong))
    assert(read(EventTime(inKey = true, Column(70, 65)), row(columns: _*), row()) === 65L)
    val withoutIt = row(columns.updated(65, None): _*)
    assert(read(EventTime(inKey = true, Column(70, 65)), withoutIt, row()) === Always)
  }

  test("a time inside a struct is found where the struct's word says") {
    val window = words(0L, 100L, 200L)
    val key = row(Some(1L), Some(24L << 32 | window.length)) ++ window
    val end = EventTime(inKey = true, Column(2, 1), Some(Column(2, 1)))
    assert(read(end, key, row()) === 200L)
    assert(read(end.copy(nested = Some(Column(2, 0))), key, row()) === 100L)
  }

  test("a row without a time is always looked at") {
    val time = EventTime(inKey = true, Column(2, 1))
    assert(read(time, row(Some(1L), None), row()) === Always)
    val inStruct = time.copy(nested = Some(Column(2, 1)))
    assert(read(inStruct, row(Some(1L), None), row()) === Always)
    val nullInside = words(2L, 100L, 0L)
    val key = row(Some(1L), Some(24L << 32 | nullInside.length)) ++ nullInside
    assert(read(inStruct, key, row()) === Always)
  }

  test("null may say that a row never expires") {
    val time = EventTime(inKey = true, Column(2, 1), nullNever = true)
    assert(read(time, row(Some(1L), None), row()) === Never)
    assert(read(time, row(Some(1L), Some(2L)), row()) === 2L)
    assert(read(time, row(Some(1L)), row()) === Always)
    val inStruct = time.copy(nested = Some(Column(2, 1)))
    assert(read(inStruct, row(Some(1L), None), row()) === Never)
    val nullInside = words(2L, 100L, 0L)
    val key = row(Some(1L), Some(24L << 32 | nullInside.length)) ++ nullInside
    assert(read(inStruct, key, row()) === Never)
    assert(read(inStruct, row(Some(1L), Some(24L << 32 | 8L)) ++ nullInside, row()) === Always)
  }

  test("bytes that are no such row are always looked at") {
    val time = EventTime(inKey = true, Column(3, 1))
    assert(read(time, row(Some(1L), Some(2L)), row()) === Always)
    assert(read(time, Array.emptyByteArray, row()) === Always)
    val inStruct = EventTime(inKey = true, Column(1, 0), Some(Column(2, 1)))
    val window = words(0L, 100L, 200L)
    Seq(
      16L << 32 | 16L,
      24L << 32 | 24L,
      -1L,
      Long.MinValue,
      Int.MaxValue.toLong << 32 | 24L,
      16L << 32 | 0xffffffffL)
      .foreach(place => assert(read(inStruct, row(Some(place)) ++ window, row()) === Always))
  }

  test("a value may say that a row never expires") {
    val time = EventTime(inKey = false, Column(1, 0), never = Some(-1L))
    assert(read(time, row(), row(Some(-1L))) === Never)
    assert(read(time, row(), row(Some(-2L))) === -2L)
    assert(read(time.copy(never = None), row(), row(Some(-1L))) === -1L)
  }

  test("a column that its row cannot have is refused") {
    assert(intercept[IllegalArgumentException](Column(2, 2)).getMessage ===
      "requirement failed: column 2 of a row of 2 columns does not exist: they are numbered from 0")
  }
}
