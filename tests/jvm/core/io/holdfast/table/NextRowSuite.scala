package io.holdfast.table

import org.scalatest.funsuite.AnyFunSuite

/** Rows that are found without the index. What is found has to be right whatever happened to the
  * page; `TransactionModelSuite` looks after whole transactions.
  */
class NextRowSuite extends AnyFunSuite {
  private val value = new Array[Byte](16)

  private def append(pages: RowPagesWriter, number: Long): Long = {
    val key = Keys.key(number)
    pages.append(0, key, 0, key.length, value, 0, value.length)
  }

  private def find(nextRow: NextRow, number: Long): Long = {
    val key = Keys.key(number)
    nextRow.find(key, 0, key.length)
  }

  /** Pages with rows 0 to 9, and one that has been told of rows 3 and 4. */
  private def inOrder(): (RowPagesWriter, IndexedSeq[Long], NextRow) = {
    val pages = new RowPagesWriter(RowPages.empty, TailPage.none, MemoryUse.Unlimited)
    val rows = (0L until 10L).map(append(pages, _))
    val nextRow = new NextRow(0, pages)
    nextRow.found(rows(3))
    nextRow.found(rows(4))
    (pages, rows, nextRow)
  }

  test("after two neighbours the rows behind them are found, up to the last") {
    val (_, rows, nextRow) = inOrder()
    (5 until 10).foreach(i => assert(find(nextRow, i.toLong) === rows(i)))
    assert(find(nextRow, 10L) === Rows.Absent)
  }

  test("nothing is found after rows that are no neighbours") {
    val (_, rows, nextRow) = inOrder()
    nextRow.found(rows(7))
    assert(find(nextRow, 8L) === Rows.Absent)
  }

  test("another key than that of the next row is not found, and the next one still is") {
    val (_, rows, nextRow) = inOrder()
    Seq(6L, 4L, 77L).foreach(key => assert(find(nextRow, key) === Rows.Absent))
    assert(find(nextRow, 5L) === rows(5))
  }

  test("nothing is found in a page with a record that is no row any more") {
    val (pages, rows, nextRow) = inOrder()
    assert(find(nextRow, 5L) === rows(5))
    pages.release(rows(0))
    assert(find(nextRow, 6L) === Rows.Absent)
  }

  test("rows that are put later are found") {
    val (pages, rows, nextRow) = inOrder()
    (5 until 10).foreach(i => assert(find(nextRow, i.toLong) === rows(i)))
    val added = append(pages, 10L)
    assert(find(nextRow, 10L) === added)
  }

  test("nothing is found after it was told to forget") {
    val (_, rows, nextRow) = inOrder()
    nextRow.forget()
    assert(find(nextRow, 5L) === Rows.Absent)
    nextRow.found(rows(5))
    assert(find(nextRow, 6L) === rows(6))
  }

  test("rows of an attempt that was given up are not found behind those of the version") {
    val base = Keys.changed(Version.empty)(t => (0L until 10L).foreach(Keys.put(t, _, 16)))
    val givenUp = base.open()
    Keys.put(givenUp, 10L, 16)
    givenUp.abort()
    val transaction = base.open()
    (0L until 10L).foreach(key => assert(Keys.has(transaction, key)))
    assert(!Keys.has(transaction, 10L))
    Keys.put(transaction, 11L, 16)
    (0L until 10L).foreach(key => assert(Keys.has(transaction, key)))
    assert(!Keys.has(transaction, 10L))
    assert(Keys.has(transaction, 11L))
  }

  test("what lies in a page that got the id of an older one is not taken for a row of that") {
    val transaction =
      Keys.changed(Version.empty)(t => (0L until 10L).foreach(Keys.put(t, _, 16))).open()
    (0L until 3L).foreach(key => assert(Keys.has(transaction, key)))
    (0L until 10L).foreach(Keys.remove(transaction, _))
    transaction.compact()
    // A value with something in it that looks like row 3, where that one has been.
    val value = new Array[Byte](200)
    val where = 3 * RowRecord.size(Keys.bytes, 16) - RowRecord.HeaderBytes - Keys.bytes
    RowRecord.write(value, where, 0, Keys.key(3L), 0, Keys.bytes, value, 0, 0)
    transaction.put(Keys.key(77L), 0, Keys.bytes, value, 0, value.length)
    assert(!Keys.has(transaction, 3L))
  }

  test("a row of another table that has the key is not found") {
    val transaction = Version.empty.open()
    val other = transaction.table(1)
    Keys.put(transaction, 2L, 16)
    Keys.put(transaction, 0L, 16)
    Keys.put(transaction, 1L, 16)
    other.put(Keys.key(2L), 0, Keys.bytes, value, 0, value.length)
    other.put(Keys.key(3L), 0, Keys.bytes, value, 0, value.length)
    (0L until 3L).foreach(key => assert(Keys.fill(transaction, key) === 1))
    assert(!Keys.has(transaction, 3L))
  }
}
