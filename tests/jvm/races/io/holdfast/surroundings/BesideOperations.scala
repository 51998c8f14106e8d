package io.holdfast.surroundings

import java.util.concurrent.atomic.AtomicInteger

import org.jetbrains.lincheck.datastructures.{BooleanGen, Operation, Param}

import io.holdfast.races.WaitingWork

/** Two parts of a commit, of which other threads may do one: it is done once when both succeed, and
  * nobody is doing anything of it any more when the call has returned or failed.
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

  /** A thread of the executor takes something, if there is anything. */
  @Operation
  def work(): Unit = threads.takeOne()
}

class BesideResults {
  @Operation
  def both(ownFails: Boolean, otherFails: Boolean): String =
    s"${if (ownFails || otherFails) "failed" else "1 done"}, 0 under way"

  @Operation
  def work(): Unit = ()
}
