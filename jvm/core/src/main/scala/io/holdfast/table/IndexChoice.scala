package io.holdfast.table

/** Decides, while a walk asks the index for record after record, whether to read all of the index
  * instead: when as many questions for what is still to come would cost more.
  *
  * For one thread.
  *
  * @param end
  *   one more than the largest page id
  */
private[table] final class IndexChoice(
    index: HashIndex,
    table: PageTable,
    end: Int,
    times: PageTimes,
    threshold: Long) {
  import IndexChoice._

  private[this] var questions = 0L
  private[this] var bytesRead = 0L
  // Of the pages that are asked about: counted when enough was asked for the sum to matter.
  private[this] var bytesToRead = NotCounted

  /** Takes notice of a part of a page that has records which are no rows.
    *
    * @param asked
    *   records that the index was asked for
    */
  def read(bytes: Int, asked: Int): Unit = {
    bytesRead += bytes
    questions += asked
  }

  /** Whether what is still to come is cheaper with the whole index. */
  def isWorthReading: Boolean =
    questions >= FewQuestions && {
      if (bytesToRead == NotCounted) bytesToRead = countBytes()
      val ahead = (bytesToRead - bytesRead).toDouble / bytesRead * questions
      ahead > (index.keyCount / QuestionCost).toDouble
    }

  private[this] def countBytes(): Long = {
    var bytes = 0L
    var id = 1
    while (id < end) {
      if (table.page(id) != null && times.least(id) <= threshold &&
        table.endOfRows(id) != table.end(id)) bytes += table.end(id)
      id += 1
    }
    bytes
  }
}

private object IndexChoice {
  private val NotCounted = -1L

  // What fewer say of the rest of the pages is not much, and they cost little.
  private val FewQuestions = 256L

  // Looking up a row costs about as much as reading so many of the index, one after the other.
  private val QuestionCost = 4L
}
