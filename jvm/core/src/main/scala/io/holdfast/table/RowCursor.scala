package io.holdfast.table

/** A walk over rows of a version or of a moment of a transaction.
  *
  * Begins in front of the first row. For one thread at a time; allocates nothing while it walks. It
  * shows the rows as they were when it was opened and holds on to them, so it stays good after its
  * transaction has ended.
  *
  * A walk that has come to its end or was closed costs nothing any more. One that is neither makes
  * the next change of its transaction copy more than it would have to, and is right all the same.
  */
trait RowCursor extends AutoCloseable {

  /** Goes to the next row.
    *
    * @return
    *   false when there is none, or when the walk was closed
    */
  def next(): Boolean

  /** The page that the current row lies in. */
  def page: Array[Byte]

  /** Where the record of the current row begins in [[page]]. */
  def offset: Int

  /** Ends the walk. What it has shown stays good. Idempotent. */
  override def close(): Unit
}

/** A walk over rows in the order of their table. */
trait ScanCursor extends RowCursor {

  /** Whether the order gives the current row these words, which is known without a look at the row. */
  def isAt(words: Array[Long]): Boolean
}
