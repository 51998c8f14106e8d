package io.holdfast.surroundings

import java.util.concurrent.atomic.AtomicInteger

import org.jetbrains.lincheck.datastructures.{BooleanGen, Operation, Param}

import io.holdfast.races.WaitingWork

/** Parts of a task's work that other threads may do: each is done once when all succeed, in its order,
  * and nobody is doing anything of them any more when the call has returned or failed.
  */
class BesideOperations {
  private val threads = new WaitingWork
  private val beside = new Beside(threads, worthFrom = 0L)

  @Operation
  def both(
      @Param(gen = classOf[BooleanGen]) ownFails: Boolean,
      @Param(gen = classOf[BooleanGen]) otherFails: Boolean): String = {
    val underWay, done = new AtomicInteger
    val outcome =
      try {
        beside.both(1L) { () =>
          val _ = underWay.incrementAndGet()
          try {
            if (otherFails) throw new IllegalArgumentException
            val _ = done.incrementAndGet()
          } finally {
            val _ = underWay.decrementAndGet()
          }
        } {
          if (ownFails) throw new IllegalArgumentException
        }
        s"${done.get} done"
      } catch {
        case _: IllegalArgumentException => "failed"
        case other: Throwable => other.toString
      }
    s"$outcome, ${underWay.get} under way"
  }

  @Operation
  def line(@Param(gen = classOf[BooleanGen]) secondFails: Boolean): String = {
    val done = new AtomicInteger
    val parts = beside.newLine()
    try {
      parts.add(() => done.set(10 * done.get + 1))
      parts.add { () =>
        if (secondFails) throw new IllegalArgumentException
        done.set(10 * done.get + 2)
      }
      parts.endWith(() => done.set(10 * done.get + 3))(())
      s"${done.get} done"
    } catch {
      case _: IllegalArgumentException => s"failed after ${done.get}"
    }
  }

  /** A thread of the executor takes something, if there is anything. */
  @Operation
  def work(): Unit = threads.takeOne()
}

class BesideResults {
  @Operation
  def both(ownFails: Boolean, otherFails: Boolean): String =
    s"${if (ownFails || otherFails) "failed" else "1 done"}, 0 under way"

  @Operation
  def line(secondFails: Boolean): String = if (secondFails) "failed after 1" else "123 done"

  @Operation
  def work(): Unit = ()
}
