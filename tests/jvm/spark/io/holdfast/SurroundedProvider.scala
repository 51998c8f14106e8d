package io.holdfast

import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CheckpointFileManager

import io.holdfast.surroundings.{Beside, Surroundings}
import io.holdfast.testkit.{HandClock, HandExecutor}

/** Holdfast's provider with a clock and background work that a test has in its hands, and with any
  * memory limit.
  */
final class SurroundedProvider extends HoldfastStateStoreProvider {

  override private[holdfast] def surroundings: Surroundings =
    Surroundings(
      SurroundedProvider.clock,
      SurroundedProvider.background,
      work => work.run(),
      new Beside(_ => (), worthFrom = 0L),
      CheckpointFileManager.create,
      leastLimitBytes = 1L)
}

/** One test uses them at a time. */
object SurroundedProvider {
  @volatile private var time = new HandClock
  @volatile private var work = new HandExecutor

  def clock: HandClock = time
  def background: HandExecutor = work

  /** Begins a test with a new clock, and nothing to do. */
  def begin(): Unit = {
    time = new HandClock
    work = new HandExecutor
  }
}
