package io.holdfast.table

/** Is told of rows that a transaction has written while it goes on, a page at a time, so that it can be
  * said early what the changes will begin with ([[Changes]]). In the transaction's thread; what it
  * throws fails the change that is under way.
  */
trait EarlyRows {

  /** The next rows, those of the table 0 and of any other, in the order of [[Changes.foreach]]. */
  def filled(rows: WrittenRows): Unit

  /** One of the rows that were told has been replaced or removed since: the changes begin with none of
    * them, and no more are told.
    */
  def void(): Unit
}
