package io.holdfast.sim.world

import java.util.concurrent.atomic.AtomicLong

import scala.collection.mutable

import io.holdfast.sim.world.Process.Checksums

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
  private[this] val unopened = mutable.Set.empty[String]
  private[this] val handles = mutable.LinkedHashMap.empty[Long, String]

  /** Until when no file may be touched, in milliseconds since 1970. */
  var forbiddenUntil: Long = Long.MinValue

  def isAlive: Boolean = living

  /** From now on it does nothing any more, whatever code goes on in its name. */
  def die(): Unit = living = false

  /** How many operations have failed so far. */
  def faults: Long = troubles

  def hadFault(): Unit = troubles += 1

  /** Streams that are open, and should not be. Spark's manager of checksums opens two files, and where
    * one of them fails it leaves the other open.
    */
  def openHandles: Iterable[String] =
    handles.values.filterNot(handle => unopened.exists(path => handle.endsWith(s" $path")))

  /** Says that a file could not be opened or made. */
  def couldNotOpen(path: String): Unit =
    unopened += (if (path.endsWith(Checksums)) path.stripSuffix(Checksums) else path + Checksums)

  /** @param handle
    *   a number of its own
    */
  def opened(handle: Long, what: String): Unit = handles(handle) = what

  def closed(handle: Long): Unit = {
    val _ = handles.remove(handle)
  }
}

private object Process {
  val Checksums = ".crc"
}

/** What code runs into that goes on in the name of a process that has died. Not `NonFatal`. */
final class Dead extends scala.util.control.ControlThrowable
