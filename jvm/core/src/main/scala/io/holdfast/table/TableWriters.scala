package io.holdfast.table

/** The tables of a transaction by number: those that were asked for have a writer, the others are as in
  * the base. For one thread.
  *
  * @param base
  *   the tables of the version that the transaction started from
  * @param first
  *   the writer of the first, which is always there
  */
private[table] final class TableWriters(base: Array[Table], val first: TableWriter) {
  import TableWriters._

  // By number; those that nobody asked for are null.
  private[this] var writers: Array[TableWriter] = NoWriters
  // Tables of the base that were dropped, and their bytes.
  private[this] val dropped = new java.util.BitSet
  private[this] var droppedBytes = 0L

  /** One more than the largest number that a table has. */
  def end: Int = math.max(base.length, writers.length)

  /** The writer of a table; of one that is not there, one without rows.
    *
    * @param order
    *   in which a table that is not there is scanned, if it is
    * @param make
    *   makes the writer
    */
  def of(number: Int, order: Option[RowOrder], make: (Int, Table) => TableWriter): TableWriter =
    if (number == 0) first
    else {
      if (number >= writers.length) writers = java.util.Arrays.copyOf(writers, number + 1)
      if (writers(number) == null) {
        val known = unchanged(number)
        writers(number) = make(number, if (known eq Table.none) Table.empty(order) else known)
      }
      writers(number)
    }

  /** The writer of a table that is there, or null. */
  def existing(number: Int, make: (Int, Table) => TableWriter): TableWriter =
    if (written(number) != null || (unchanged(number) ne Table.none)) of(number, None, make)
    else null

  /** Number of keys of a table. */
  def keyCount(number: Int): Long = {
    val writer = written(number)
    if (writer == null) unchanged(number).index.keyCount else writer.applied().keyCount
  }

  /** Gives up a table with all of its rows. Not for the first. */
  def drop(number: Int, make: (Int, Table) => TableWriter): Unit = {
    val writer = existing(number, make)
    if (writer != null) {
      writer.giveUp()
      writers(number) = null
    }
    if (number < base.length && !dropped.get(number)) {
      dropped.set(number)
      droppedBytes += base(number).bytes
    }
  }

  def foreach(use: TableWriter => Unit): Unit = {
    use(first)
    writers.foreach(writer => if (writer != null) use(writer))
  }

  /** What the tables have become, up to the last one that was ever asked for. */
  def snapshot(): Array[Table] = {
    val tables = Array.newBuilder[Table]
    var number = 0
    while (number < end) {
      val writer = written(number)
      tables += (if (writer == null) unchanged(number) else writer.applied().snapshot())
      number += 1
    }
    val made = tables.result()
    val used = made.lastIndexWhere(_ ne Table.none) + 1
    if (used == made.length) made else made.take(used)
  }

  /** Heap bytes of the indexes of all tables. */
  def bytes: Long = {
    var bytes = 0L
    var number = 0
    while (number < end) {
      val writer = written(number)
      bytes += (if (writer == null) unchanged(number).bytes else writer.bytes)
      number += 1
    }
    bytes
  }

  /** Heap bytes of the base's indexes that are no part of the result. */
  def replacedBytes: Long = {
    var bytes = droppedBytes
    foreach(writer => bytes += writer.replacedBytes)
    bytes
  }

  private[this] def written(number: Int): TableWriter =
    if (number == 0) first else if (number < writers.length) writers(number) else null

  private[this] def unchanged(number: Int): Table =
    if (number < base.length && !dropped.get(number)) base(number) else Table.none
}

private object TableWriters {
  private val NoWriters = new Array[TableWriter](0)
}
