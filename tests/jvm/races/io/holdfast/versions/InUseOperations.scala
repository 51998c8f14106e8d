package io.holdfast.versions

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicLong

import org.jetbrains.lincheck.datastructures.{IntGen, Operation, Param, Validate}

import io.holdfast.checkpoint.VersionId
import io.holdfast.memory.{LimitWarning, MemoryLimit, StoreMemory}
import io.holdfast.table.Version

/** The accounting of versions that are published and used, one of which stays in memory. Whatever came
  * together, in the end just that is counted which counting anew would count, and nothing when the store
  * is closed.
  */
class InUseOperations {
  import InUseOperations._

  private val held = new AtomicLong
  private val inMemory = new VersionsInMemory(limit = 1)
  private val memory =
    new StoreMemory("a store", MemoryLimit.of(Long.MaxValue), held, new LimitWarning(() => 0L))
  private val inUse = new VersionsInUse(inMemory, memory)
  private val uses = Array.fill(chain.length)(new ConcurrentLinkedQueue[VersionsInUse#Use])

  @Operation
  def publish(@Param(gen = classOf[IntGen], conf = "0:2") number: Int): Unit = {
    inMemory.put(VersionId(number.toLong, None), chain(number), None)
    inUse.published(chain(number))
  }

  @Operation
  def begin(@Param(gen = classOf[IntGen], conf = "0:2") number: Int): Unit = {
    val _ = uses(number).add(inUse.use(chain(number)))
  }

  // A task and what cleans up after it end the same use.
  @Operation
  def end(@Param(gen = classOf[IntGen], conf = "0:2") number: Int): Unit =
    Option(uses(number).peek()).foreach(_.close())

  @Operation
  def forget(@Param(gen = classOf[IntGen], conf = "0:2") number: Int): Unit =
    // As a commit does whose file may have appeared or not.
    inMemory.remove(VersionId(number.toLong, None)).foreach(gone => inUse.use(gone).close())

  @Validate
  def isExact(): Unit = {
    val counted = held.get
    inUse.use(stranger).close()
    val anew = held.get
    if (counted != anew) throw new IllegalStateException(s"$counted bytes are counted of $anew")
    uses.foreach(_.forEach(_.close()))
    val kept = Version.heldBytes(inMemory.all)
    if (held.get != kept) throw new IllegalStateException(s"${held.get} are counted of $kept kept")
    memory.close()
    if (held.get != 0) throw new IllegalStateException(s"${held.get} bytes are counted after close")
  }
}

/** Operations whose results say nothing. */
class InUseResults {
  @Operation def publish(number: Int): Unit = ()
  @Operation def begin(number: Int): Unit = ()
  @Operation def end(number: Int): Unit = ()
  @Operation def forget(number: Int): Unit = ()
}

private object InUseOperations {
  private val stranger = Version.empty(None)

  // Each replaces the row of the one before and adds one.
  private val chain: Array[Version] = Iterator
    .iterate(Version.empty(None) -> 1) { case (version, number) =>
      val rows = version.open()
      (0 to number).foreach { row =>
        rows.put(Array.fill(8)(row.toByte), 0, 8, Array.fill(64)(number.toByte), 0, 64)
      }
      rows.commit() -> (number + 1)
    }
    .slice(1, 4)
    .map(_._1)
    .toArray
}
