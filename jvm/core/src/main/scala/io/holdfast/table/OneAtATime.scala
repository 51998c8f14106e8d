package io.holdfast.table

import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport

/** Lets one thread at a time do something that takes a moment; others wait. Whoever comes next sees
  * all that the one before did.
  *
  * Spark uses a state store from one thread, but some of its Python runners get from one thread and
  * put from another (`FlatMapGroupsInPandasWithStateExec`, Spark 3.5), and a task that is killed may
  * be cleaned up by a third. This costs one compare-and-set as long as nobody else is there, where a
  * monitor would cost two. Not reentrant.
  */
private[table] final class OneAtATime extends AtomicBoolean {

  /** Waits until nobody else is inside, and goes in. */
  def enter(): Unit = if (!compareAndSet(false, true)) waitForTurn()

  /** Goes out. */
  def leave(): Unit = setRelease(false)

  private def waitForTurn(): Unit = {
    var tries = 0
    while (!compareAndSet(false, true)) {
      tries += 1
      if (tries < OneAtATime.Spins) Thread.onSpinWait()
      else LockSupport.parkNanos(OneAtATime.ParkNanos)
    }
  }
}

private object OneAtATime {
  private val Spins = 200
  private val ParkNanos = 20000L
}
