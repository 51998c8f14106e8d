package io.holdfast.sim.world

import java.util.concurrent.atomic.AtomicLong

/** A JVM that works on the checkpoint: an executor, or somebody who reads.
  *
  * @param isWatched
  *   whether what it does with files may fail, or be interrupted by what others do
  */
class Process(val name: String, val isWatched: Boolean) {

  /** Heap bytes that its stores hold together. */
  val heldBytes = new AtomicLong

  private[this] var living = true
  private[this] var troubles = 0L
  private[this] var handles = 0

  /** Until when no file may be touched, in milliseconds since 1970. */
  var forbiddenUntil: Long = Long.MinValue

  def isAlive: Boolean = living

  /** From now on it does nothing any more, whatever code goes on in its name. */
  def die(): Unit = living = false

  /** How many operations have failed so far. */
  def faults: Long = troubles

  def hadFault(): Unit = troubles += 1

  /** Streams that are open. */
  def openHandles: Int = handles

  def opened(): Unit = handles += 1
  def closed(): Unit = handles -= 1
}

/** What code runs into that goes on in the name of a process that has died. Not `NonFatal`. */
final class Dead extends scala.util.control.ControlThrowable
