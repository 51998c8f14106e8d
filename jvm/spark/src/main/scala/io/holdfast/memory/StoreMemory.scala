package io.holdfast.memory

import java.util.concurrent.atomic.AtomicLong
import javax.annotation.concurrent.GuardedBy

import scala.annotation.tailrec

import io.holdfast.surroundings.Surroundings
import io.holdfast.table.MemoryUse

/** Heap bytes of state that one store holds, as a part of what all stores of this JVM hold.
  *
  * A transaction that would take them all together above the limit is refused: the task fails with a
  * sentence instead of the executor with an `OutOfMemoryError`. Before that, when versions hold four
  * fifths of it, the log warns. Any thread may call.
  *
  * @param store
  *   the store in messages
  * @param limit
  *   what all stores of the JVM may hold together
  * @param forgetEnded
  *   has stores of runs that are over give back what they hold of what all hold, which it is given;
  *   called before anybody is refused, and not to know the store
  */
final private[holdfast] class StoreMemory(
    store: String,
    limit: MemoryLimit,
    all: AtomicLong = Surroundings.HeldInThisJvm,
    warning: LimitWarning = LimitWarning.OfThisJvm,
    forgetEnded: AtomicLong => Unit = _ => ()) {
  @GuardedBy("this") private var versions = 0L
  @GuardedBy("this") private var closed = false

  /** Says how much the versions in memory use together. */
  def versionsUse(bytes: => Long): Unit = {
    val total = synchronized {
      val now = if (closed) 0L else bytes
      val growth = now - versions
      versions = now
      all.addAndGet(growth)
    }
    if (isNear(total)) warning.near(total, limit)
  }

  /** Whether the stores of this JVM hold so much that the limit is near. */
  def isNearLimit: Boolean = isNear(all.get)

  private def isNear(total: Long): Boolean = total > limit.bytes / 5 * 4

  /** Gives everything back; what is said afterwards does not count. */
  def close(): Unit = synchronized {
    closed = true
    versionsUse(0L)
  }

  /** Gives everything back also when an owner of this memory is garbage. */
  def endWith(owner: AnyRef): Unit = DroppedOwners.watch(owner, this)

  /** Counts what a transaction, or the walks of a store, use until they end.
    *
    * @param refuses
    *   whether what would take all stores above the limit fails
    */
  def newUse(refuses: Boolean = true): Use = new Use(refuses)

  /** Whether there is room for so many bytes below the limit now. */
  def hasRoomFor(bytes: Long): Boolean = all.get + bytes <= limit.bytes

  /** For one thread at a time, but for [[end]]: a task that is over may have a thread that still
    * walks.
    */
  final class Use private[StoreMemory] (refuses: Boolean) extends MemoryUse {
    // What is counted, and what came and went since then: other threads are not told of every piece.
    private[this] var counted = 0L
    private[this] var untold = 0L
    private[this] var ended = false

    override def allocate(bytes: Long): Unit = {
      untold += bytes
      if (untold >= StoreMemory.ToldBytes) count(counted + untold)
    }

    override def tryAllocate(bytes: Long): Boolean = synchronized {
      DroppedOwners.giveBack()
      val growth = untold + bytes
      val most = mostFor(growth)
      ended || {
        val granted = grow(growth, most) <= most
        if (granted) {
          counted += growth
          untold = 0L
        }
        granted
      }
    }

    override def release(bytes: Long): Unit = {
      untold -= bytes
      if (untold <= -StoreMemory.ToldBytes) count(counted + untold)
    }

    override def holds(bytes: Long): Unit = count(bytes)

    /** Stops counting: the transaction is aborted, or a version that is counted as such. What is said
      * afterwards does not count. Idempotent. Any thread may call.
      */
    def end(): Unit = synchronized {
      ended = true
      all.addAndGet(-counted)
      counted = 0L
    }

    private[this] def count(bytes: Long): Unit = synchronized {
      DroppedOwners.giveBack()
      untold = 0L
      if (!ended) {
        val growth = bytes - counted
        val most = mostFor(growth)
        val total = grow(growth, most) match {
          case tooMuch if tooMuch > most =>
            forgetEnded(all)
            grow(growth, most)
          case fits => fits
        }
        if (total <= most) counted = bytes
        else {
          end()
          throw new MemoryLimitException(
            store,
            StoreMemory.this.synchronized(versions),
            bytes,
            total,
            limit)
        }
      }
    }

    // What all may hold with so many bytes more of this one.
    private[this] def mostFor(growth: Long): Long =
      if (refuses && growth > 0) limit.bytes else Long.MaxValue
  }

  // What all stores hold with so many bytes more, which count only if that is not too much: nobody is
  // refused for what another one was refused at the same time.
  @tailrec
  private def grow(bytes: Long, most: Long): Long = {
    val before = all.get
    val total = before + bytes
    if (total > most || all.compareAndSet(before, total)) total else grow(bytes, most)
  }
}

private[holdfast] object StoreMemory {

  /** Heap bytes that all stores of this JVM hold now, transactions included. */
  def heldInThisJvm: Long = {
    DroppedOwners.giveBack()
    Surroundings.HeldInThisJvm.get
  }

  // Half of a page of a large store.
  private val ToldBytes = 128L << 10
}
