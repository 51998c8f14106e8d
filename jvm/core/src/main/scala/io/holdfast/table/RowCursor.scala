package io.holdfast.table

/** A walk over rows of a version or of a moment of a transaction.
  *
  * Begins in front of the first row. For one thread at a time; allocates nothing while it walks. It
  * shows the rows as they were when it was opened and holds on to them, so it stays good after its
  * transaction has ended.
  */
trait RowCursor {

  /** Goes to the next row.
    *
    * @return
    *   false when there is none
    */
  def next(): Boolean

  /** The page that the current row lies in. */
  def page: Array[Byte]

  /** Where the record of the current row begins in [[page]]. */
  def offset: Int
}
