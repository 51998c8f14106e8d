package io.holdfast.store

import scala.util.control.NonFatal

import org.jetbrains.lincheck.datastructures.{BooleanGen, IntGen, Operation, Param, Validate}

/** A store whose tasks, maintenance and background threads come together: commit and open are
  * linearizable. So a version that is opened holds what the last attempt at it has made, be it in memory
  * or in the files, whatever else goes on. In the end the files say the same as memory, snapshots say the
  * same as deltas, and just what is there is counted.
  */
class StoreOperations {
  private val store = QuietStore.begun()

  @Operation
  def commit(
      @Param(gen = classOf[IntGen], conf = "4:5") version: Int,
      @Param(gen = classOf[IntGen], conf = "10:99") value: Int,
      @Param(gen = classOf[BooleanGen]) snapshot: Boolean): Unit =
    store.commit(version, value, snapshot)

  @Operation
  def abort(): Unit = store.abort(5)

  @Operation
  def read(@Param(gen = classOf[IntGen], conf = "4:5") version: Int): Int =
    try store.read(version)
    catch { case NonFatal(_) if version == 5 => -1 }

  @Operation(nonParallelGroup = "snapshots")
  def snapshots(): Unit = store.parts.snapshots.run()

  @Operation(nonParallelGroup = "cleanup")
  def cleanup(): Unit = store.parts.cleanup.run()

  @Operation
  def work(): Unit = store.work()

  @Validate
  def isWhole(): Unit = {
    QuietStore.nothingIsLeft(store)
    QuietStore.filesAgree(store)
  }
}

/** What they return one after the other. */
class StoreResults {
  private var values = Map(3 -> 3, 4 -> 4)

  @Operation
  def commit(version: Int, value: Int, snapshot: Boolean): Unit =
    values = values.updated(version, value)

  @Operation def abort(): Unit = ()

  @Operation
  def read(version: Int): Int = values.getOrElse(version, -1)

  @Operation def snapshots(): Unit = ()
  @Operation def cleanup(): Unit = ()
  @Operation def work(): Unit = ()
}

/** The same, and the store is closed at any moment: what is under way fails or succeeds, and nothing is
  * counted, being written, or wrong in the files afterwards.
  */
class ClosingOperations {
  private val store = QuietStore.begun()
  @volatile private var isClosed = false

  @Operation(nonParallelGroup = "task")
  def commit(@Param(gen = classOf[BooleanGen]) snapshot: Boolean): Unit =
    store.commit(5, 5, snapshot)

  @Operation
  def read(): Int = store.read(4)

  @Operation(nonParallelGroup = "snapshots")
  def snapshots(): Unit = store.parts.snapshots.run()

  @Operation
  def work(): Unit = store.work()

  @Operation
  def close(): Unit = {
    store.parts.close()
    isClosed = true
  }

  @Validate
  def isGone(): Unit = {
    QuietStore.nothingIsCounted(store, isClosed)
    QuietStore.filesAgree(new RacingStore(store.files))
  }
}

class ClosingResults {
  @Operation def commit(snapshot: Boolean): Unit = ()
  @Operation def read(): Int = 4
  @Operation def snapshots(): Unit = ()
  @Operation def work(): Unit = ()
  @Operation def close(): Unit = ()
}
