package io.holdfast.table

/** Receives the changes of a transaction: for every changed key one call, with its last change.
  *
  * Called from the transaction's thread. The arrays are the engine's own and must not be changed.
  */
trait ChangeVisitor {

  /** The record at this place of this page is a row that is new or has a new value. */
  def put(page: Array[Byte], offset: Int): Unit

  /** The key of the record at this place of this page has no row any more. */
  def remove(page: Array[Byte], offset: Int): Unit
}
