package io.holdfast.versions

import org.jetbrains.lincheck.datastructures.{IntGen, Operation, Param}

import io.holdfast.checkpoint.{KnownDelta, VersionId}
import io.holdfast.table.Version

/** The versions that stay in memory, two of them, as Lincheck calls them: linearizable, so whoever asks
  * without the lock sees nothing older than what was there when it asked.
  */
class InMemoryOperations {
  import InMemoryOperations._

  private val versions = new VersionsInMemory(limit = 2)

  @Operation
  def put(
      @Param(gen = classOf[IntGen], conf = "1:3") number: Int,
      @Param(gen = classOf[IntGen], conf = "0:1") attempt: Int): Unit =
    versions.put(
      id(number, attempt),
      made(number)(attempt),
      Some(KnownDelta.Written(attempt.toLong, 0L)))

  @Operation
  def get(
      @Param(gen = classOf[IntGen], conf = "1:3") number: Int,
      @Param(gen = classOf[IntGen], conf = "0:1") attempt: Int): Boolean =
    versions.get(id(number, attempt)).exists(_ eq made(number)(attempt))

  @Operation
  def contains(
      @Param(gen = classOf[IntGen], conf = "1:3") number: Int,
      @Param(gen = classOf[IntGen], conf = "0:1") attempt: Int): Boolean =
    versions.contains(made(number)(attempt))

  @Operation
  def latest(): String = versions.latest.fold("none")(_._1.toString)

  @Operation
  def remove(
      @Param(gen = classOf[IntGen], conf = "1:3") number: Int,
      @Param(gen = classOf[IntGen], conf = "0:1") attempt: Int): Boolean =
    versions.remove(id(number, attempt)).isDefined

  @Operation
  def clear(): Unit = versions.clear()
}

private object InMemoryOperations {
  private val made = Array.fill(4, 2)(Version.empty(None))

  private def id(number: Int, attempt: Int) = VersionId(number.toLong, Some(attempt.toString))
}
