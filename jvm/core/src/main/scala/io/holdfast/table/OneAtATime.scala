package io.holdfast.table

import java.util.concurrent.locks.LockSupport

/** Lets one thread at a time do something that takes a moment; others wait. Whoever comes next sees
  * all that the one before did. Not reentrant.
  *
  * Spark uses a state store from one thread, nearly always. But some of its Python runners get from
  * one thread and put from another (`FlatMapGroupsInPandasWithStateExec`, Spark 3.5), rows that are
  * piped to a process are asked for by a thread of their own, and a task that is killed may be
  * cleaned up by another one.
  */
/* A lock for each operation would cost as much as a tenth of a put: an atomic instruction waits until
 * all that was written before it has reached the cache, and a put writes to memory that is not there.
 * So the first thread that comes owns the turn, and says only with plain stores that it is inside; no
 * other thread pays for that until it comes.
 *
 * The first other thread that does (1) takes the lock, (2) says that turns are shared from now on, and
 * (3) asks for the stack of the owner. To answer, a virtual machine has the owner pass a point at which
 * all its stores are done and its later loads are not begun. So either the owner has seen that turns
 * are shared, or the other one sees that it is inside, and waits until it is not. From then on all
 * threads take the lock.
 */
private[table] final class OneAtATime {
  // Whether the owner is inside without the lock.
  private[this] val inside = new Flag
  @volatile private[this] var shared = false
  private[this] val lock = new Flag
  // Written with the lock; whoever else reads it without may see none, and takes the lock.
  private[this] var owner: Thread = null

  /** Waits until nobody else is inside, and goes in. */
  def enter(): Unit =
    if (Thread.currentThread ne owner) enterAsAnother()
    else {
      inside.raise()
      if (shared) {
        inside.lower()
        takeLock()
      }
    }

  /** Lets the next thread that comes own the turn, if this one does and was alone so far. It is outside,
    * and is to read nothing more of what it has found.
    */
  def handOver(): Unit = if ((Thread.currentThread eq owner) && !shared) {
    takeLock()
    if (!shared) owner = null
    lock.lower()
  }

  /** Whether more than one thread has come so far, those aside that have handed over. */
  def isShared: Boolean = shared

  /** Goes out. */
  def leave(): Unit =
    if (inside.isRaisedByThisThread && (Thread.currentThread eq owner)) inside.lower()
    else lock.lower()

  private[this] def enterAsAnother(): Unit = {
    takeLock()
    if (owner == null) {
      owner = Thread.currentThread
      lock.lower()
      enter()
    } else if (!shared) share()
  }

  // With the lock, which stays taken. The stack of a thread takes memory, and what is refused there must
  // not keep the lock: then turns are not shared yet, and the next one that comes asks again.
  private[this] def share(): Unit = {
    shared = true
    try if (owner.isAlive) awaitOwner()
    catch {
      case e: Throwable =>
        shared = false
        lock.lower()
        throw e
    }
  }

  private[this] def awaitOwner(): Unit = {
    owner.getStackTrace
    var tries = 0
    while (inside.isRaised) {
      tries += 1
      pause(tries)
    }
  }

  private[this] def takeLock(): Unit = {
    var tries = 0
    while (!lock.tryRaise()) {
      tries += 1
      pause(tries)
    }
  }

  private[this] def pause(tries: Int): Unit =
    if (tries < OneAtATime.Spins) Flag.pause()
    else LockSupport.parkNanos(OneAtATime.ParkNanos)
}

private object OneAtATime {
  private val Spins = 200
  private val ParkNanos = 20000L
}
