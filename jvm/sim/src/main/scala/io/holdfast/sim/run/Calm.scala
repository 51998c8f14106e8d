package io.holdfast.sim.run

import org.apache.spark.holdfast.SimTask

/** After all trouble: those who are there end what they have begun and leave nothing behind, and a new
  * executor goes on with the query as if nothing had been.
  */
final class Calm(world: World) {
  import world.{cluster, scheduler}

  /** Those who are there end what they have begun, and leave. */
  def end(): Unit = {
    cluster.executors.foreach(drain)
    cluster.executors.foreach(leave)
  }

  /** They tidy up as well, and a new executor goes on. */
  def goOn(): Unit = {
    val old = cluster.executors.toVector
    old.foreach(drain)
    old.foreach { executor =>
      executor.providers.values.foreach { provider =>
        scheduler.snapshots(executor, provider)
        scheduler.cleanup(executor, provider)
      }
      drain(executor)
    }
    continue()
    cluster.executors.toVector.foreach(leave)
  }

  private[this] def continue(): Unit = {
    val executor = cluster.newExecutor()
    val driver = cluster.newDriver()
    // Where one attempt replaces another, executors would not know of those of each other.
    if (world.plan.longEnd && (world.plan.executors == 1 || world.plan.attemptsReplace)) {
      driver.stayIn(executor)
    }
    val target = world.model.newest + batches
    var steps = 0
    while (world.model.newest < target) {
      steps += 1
      driver.step()
      cluster.pending.toVector.foreach { attempt =>
        cluster.pending -= attempt
        attempt.run()
      }
      stopIfFailed()
      if (!driver.isBetweenJobs) {
        cluster.executors.foreach { executor =>
          executor.providers.values.toVector.filter(_.run == driver.run).foreach { provider =>
            scheduler.snapshots(executor, provider)
            scheduler.cleanup(executor, provider)
          }
          drain(executor)
        }
        // The jobs of a batch follow faster than Spark's timer.
      } else if (world.random.chance(0.5)) cluster.executors.foreach(drain)
      if (steps > 10 * batches) world.fail("a query without trouble does not go on")
    }
    // What one provider did not know of, another finds.
    world.stores.foreach { store =>
      val provider = cluster.provider(executor, driver.run + 1, store)
      SimTask
        .none(provider.getReadStore(world.model.newest, world.model.id(store, world.model.newest)))
        .abort()
      scheduler.snapshots(executor, provider)
      scheduler.cleanup(executor, provider)
    }
    cluster.stop(driver)
  }

  private[this] def drain(executor: SimExecutor): Unit = {
    while (executor.queue.nonEmpty) scheduler.doWork(executor, executor.queue.head)
    stopIfFailed()
  }

  private[this] def leave(executor: SimExecutor): Unit = {
    executor.providers.values.foreach(_.close())
    executor.providers.clear()
    if (executor.heldBytes.get != 0) {
      world.fail(
        s"${executor.name} has closed its stores and holds ${executor.heldBytes.get} bytes")
    }
    if (executor.openHandles.nonEmpty) {
      world.fail(
        s"${executor.name} has closed its stores and leaves open: ${executor.openHandles.mkString(", ")}")
    }
  }

  private[this] def stopIfFailed(): Unit = world.failure.foreach(world.fail)

  // With the long end the oldest version that is promised, and the one before it, is loaded from a
  // snapshot that was written now, and so is the snapshot before that.
  private[this] def batches: Int =
    if (world.plan.longEnd) world.plan.retained + world.plan.mostDeltas + 2 else ShortEnd

  private[this] val ShortEnd = 2
}
