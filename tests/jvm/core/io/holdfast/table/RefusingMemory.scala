package io.holdfast.table

/** Refuses what would take it above a limit, as the memory of stores does, and counts what it lets be. */
final class RefusingMemory(limitBytes: Long = 0L) extends MemoryUse {
  private[this] var count = 0L
  private[this] var bytes = 0L

  /** Allocations that were refused so far. */
  def refused: Long = count

  /** Bytes that are in use. */
  def held: Long = bytes

  override def allocate(more: Long): Unit = {
    if (bytes + more > limitBytes) {
      count += 1
      throw new IllegalStateException(s"$more bytes more than $bytes are refused")
    }
    bytes += more
  }

  override def release(less: Long): Unit = bytes -= less

  override def holds(now: Long): Unit = bytes = now
}
