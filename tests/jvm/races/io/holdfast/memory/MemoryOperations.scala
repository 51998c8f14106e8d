package io.holdfast.memory

import java.util.concurrent.atomic.AtomicLong

import org.jetbrains.lincheck.datastructures.{IntGen, Operation, Param, Validate}

/** The accounting of two stores below one limit: linearizable. So what is refused is refused because
  * there is no room, never because others were refused at the same time, and nobody ever sees more
  * counted than the limit allows.
  */
class MemoryOperations {
  import MemoryOperations._

  private val held = new AtomicLong
  private val stores = Array.fill(2) {
    new StoreMemory("a store", MemoryLimit.of(Limit), held, quiet)
  }
  // Of one transaction each.
  private val first = stores(0).newUse()
  private val second = stores(1).newUse()
  // Walks of a snapshot, which nothing refuses.
  private val walk = stores(1).newUse(refuses = false)

  @Operation(nonParallelGroup = "first")
  def firstMay(@Param(gen = classOf[IntGen], conf = "1:7") pieces: Int): Boolean =
    first.tryAllocate(pieces * Piece)

  @Operation(nonParallelGroup = "first")
  def firstHolds(@Param(gen = classOf[IntGen], conf = "0:7") pieces: Int): Boolean =
    isGranted(first.holds(pieces * Piece))

  @Operation(nonParallelGroup = "second")
  def secondMay(@Param(gen = classOf[IntGen], conf = "1:7") pieces: Int): Boolean =
    second.tryAllocate(pieces * Piece)

  @Operation(nonParallelGroup = "second")
  def secondAllocates(@Param(gen = classOf[IntGen], conf = "1:7") pieces: Int): Boolean =
    isGranted(second.allocate(pieces * Piece))

  @Operation(nonParallelGroup = "walk")
  def walkHolds(@Param(gen = classOf[IntGen], conf = "0:2") pieces: Int): Boolean =
    isGranted(walk.holds(pieces * Piece))

  // A task that is over may be cleaned up by another thread.
  @Operation
  def firstEnds(): Unit = first.end()

  @Operation
  def versions(
      @Param(gen = classOf[IntGen], conf = "0:1") store: Int,
      @Param(gen = classOf[IntGen], conf = "0:3") pieces: Int): Unit =
    stores(store).versionsUse(pieces * Piece)

  @Operation
  def close(@Param(gen = classOf[IntGen], conf = "0:1") store: Int): Unit = stores(store).close()

  @Operation
  def counted(): Long = held.get

  @Validate
  def givesAllBack(): Unit = {
    Seq(first, second, walk).foreach(_.end())
    stores.foreach(_.close())
    if (held.get != 0) throw new IllegalStateException(s"${held.get} bytes stay counted")
  }
}

private object MemoryOperations {
  // More than is collected before others are told.
  private val Piece = 1L << 20
  private val Limit = 10 * Piece

  // Has said already what it has to say.
  private val quiet = new LimitWarning(() => 0L)
  quiet.near(Limit, MemoryLimit.of(Limit))

  private def isGranted(use: => Unit): Boolean =
    try {
      use
      true
    } catch { case _: MemoryLimitException => false }
}
