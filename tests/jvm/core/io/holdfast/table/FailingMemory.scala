package io.holdfast.table

/** Refuses one allocation, as a heap that is full at that moment does, and all after it.
  *
  * @param at
  *   which one, counted from 1
  */
final class FailingMemory(at: Long) extends MemoryUse {
  private[this] var count = 0L

  /** Allocations asked for so far. */
  def asked: Long = count

  override def allocate(bytes: Long): Unit = {
    count += 1
    if (count >= at) throw new OutOfMemoryError(s"allocation $at is refused")
  }

  override def release(bytes: Long): Unit = ()

  override def holds(bytes: Long): Unit = ()
}
