package io.holdfast.testkit

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.scalatest.Assertions.fail

/** Holds file operations of a kind up until a test lets them go on.
  *
  * @param passing
  *   how many of them go by before
  */
final class Gate(kind: FileOperation.Kind, file: String, passing: Int = 0) extends FileOperations {
  private val came = new AtomicInteger
  private val reached = new CountDownLatch(1)
  private val opened = new CountDownLatch(1)

  override def around[A](operation: FileOperation)(proceed: => A): A = {
    if (operation == FileOperation(kind, file) && came.getAndIncrement() >= passing) {
      reached.countDown()
      Gate.await(opened, s"$operation was not let go on")
    }
    proceed
  }

  /** Returns when an operation stands at the gate. */
  def awaitArrival(): Unit = Gate.await(reached, s"no $kind of $file came")

  def open(): Unit = opened.countDown()
}

object Gate {

  // Long enough for any machine: a test that waits so long has failed, one that passes never does.
  private val MaxSeconds = 120L

  /** Returns when a latch is open; fails with these words if it never is. */
  def await(latch: CountDownLatch, otherwise: String): Unit =
    if (!latch.await(MaxSeconds, TimeUnit.SECONDS)) fail(otherwise)
}
