package io.holdfast.sim.world

import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable

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
  private[this] val handles = mutable.LinkedHashMap.empty[Long, String]

  /** Until when no file may be touched, in milliseconds since 1970. */
  var forbiddenUntil: Long = Long.MinValue

  def isAlive: Boolean = living

  /** From now on it does nothing any more, whatever code goes on in its name. */
  def die(): Unit = living = false

  /** How many operations have failed so far. */
  def faults: Long = troubles

  def hadFault(): Unit = troubles += 1

  /** Streams that are open. */
  def openHandles: Iterable[String] = handles.values

  /** @param handle
    *   a number of its own
    */
  def opened(handle: Long, what: String): Unit = handles(handle) = what

  def closed(handle: Long): Unit = {
    val _ = handles.remove(handle)
  }
}

/** What code runs into that goes on in the name of a process that has died. Not `NonFatal`. */
final class Dead extends scala.util.control.ControlThrowable
