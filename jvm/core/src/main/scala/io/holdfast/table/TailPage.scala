package io.holdfast.table

import java.util.concurrent.atomic.AtomicReference

/** The page that a version's successor goes on filling.
  *
  * Versions that share a tail never see each other's rows, since each knows its rows by address;
  * but only one transaction at a time may append. A transaction that finds the tail taken (a
  * retried or speculative attempt at the same version) starts a page of its own.
  *
  * @param id
  *   page id in the table of every version that has this tail
  */
private[table] final class TailPage(val id: Int, val page: Array[Byte]) {
  private[this] val owner = new AtomicReference[AnyRef]()

  // Guarded by ownership: written by the owner before `release`, read after `claim`.
  private[this] var usedBytes = 0

  def claim(by: AnyRef): Boolean = owner.compareAndSet(null, by)

  /** Lets the next transaction append behind `used` bytes. */
  def release(used: Int): Unit = {
    usedBytes = used
    owner.set(null)
  }

  def used: Int = usedBytes
}

private[table] object TailPage {

  /** The tail of a version without pages: no row fits. */
  val none: TailPage = new TailPage(0, new Array[Byte](0))
}
