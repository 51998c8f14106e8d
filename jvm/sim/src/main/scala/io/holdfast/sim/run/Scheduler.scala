package io.holdfast.sim.run

import org.apache.spark.holdfast.SimTask

/** Chooses what happens next: at the end of something, or in the middle of what stands still. */
final class Scheduler(world: World) {
  import Scheduler._
  import world.{cluster, plan, random}

  /** Does one thing, if what was chosen is possible now. */
  def step(): Unit = {
    if (world.standing.nonEmpty) world.counters.nested += 1
    if (maySetBack && random.chance(plan.setBacks)) setBack()
    else doOneThing()
  }

  private[this] def doOneThing(): Unit =
    random.below(100) match {
      case n if n < 32 => attempt()
      case n if n < 58 => driver()
      case n if n < 70 => work()
      case n if n < 82 => maintenance()
      case n if n < 85 => unload()
      case n if n < 88 => world.clock.pass(random.below(100).toLong * 1000000L)
      case n if n < 92 => read()
      case n if n < 94 => if (random.chance(plan.speculation)) oneOf(cluster.drivers)(_.speculate())
      case n if n < 95 => if (plan.faults.crash > 0) oneOf(cluster.drivers)(cluster.restart)
      case n if n < 96 =>
        if (plan.faults.crash > 0 && world.mayCrashAgain) oneOf(cluster.executors)(cluster.crash)
      case _ => driver()
    }

  private[this] def maySetBack: Boolean =
    plan.setBacks > 0 && world.counters.setBacks < MostSetBacks && world.standing.isEmpty &&
      !world.isDamaged && world.model.newest > oldestToGoOnFrom

  // Before the first version of all, as long as it is promised.
  private[this] def oldestToGoOnFrom: Long = {
    val oldest = world.model.oldestPromised(plan.retained)
    if (oldest == 1) 0L else oldest
  }

  private[this] def setBack(): Unit = {
    world.counters.setBacks += 1
    val oldest = oldestToGoOnFrom
    cluster.setBack(oldest + random.below((world.model.newest - oldest).toInt))
  }

  private[this] def oneOf[A](values: collection.IndexedSeq[A])(use: A => Unit): Unit =
    if (values.nonEmpty) use(values(random.below(values.size)))

  private[this] def attempt(): Unit = oneOf(cluster.pending) { attempt =>
    if (!attempt.executor.isAlive) {
      cluster.pending -= attempt
      attempt.isLost()
    } else if (attempt.mayBegin) {
      cluster.pending -= attempt
      attempt.run()
    }
  }

  private[this] def driver(): Unit = oneOf(cluster.drivers) { driver =>
    if (driver.failures > 20) cluster.restart(driver) else driver.step()
  }

  /** Does what has waited for a thread of an executor. */
  private[this] def work(): Unit = oneOf(cluster.executors)(executor =>
    oneOf(executor.queue)(work => if (work.provider.mayCommit) doWork(executor, work)))

  /** Does one thing that waits. */
  def doWork(executor: SimExecutor, work: Work): Unit = {
    executor.queue -= work
    as(executor, work.provider, work.kind)(work.body.run())
  }

  private[this] def maintenance(): Unit =
    oneOf(cluster.executors)(executor =>
      oneOf(executor.providers.values.toVector) { provider =>
        if (provider.mayCommit) random.below(3) match {
          case 0 => snapshots(executor, provider)
          case 1 => cleanup(executor, provider)
          case _ =>
            snapshots(executor, provider)
            if (executor.isAlive) cleanup(executor, provider)
        }
      })

  /** Writes a snapshot if one is due, as Spark's timer would have it. */
  def snapshots(executor: SimExecutor, provider: SimProvider): Unit = if (!provider.inSnapshot) {
    provider.inSnapshot = true
    as(executor, provider, "snapshots")(provider.store.snapshots.run())
    provider.inSnapshot = false
  }

  /** Deletes files that are not needed, as Spark's timer would have it. */
  def cleanup(executor: SimExecutor, provider: SimProvider): Unit = if (!provider.inCleanup) {
    provider.inCleanup = true
    as(executor, provider, "cleanup")(provider.store.cleanup.run())
    provider.inCleanup = false
  }

  /** A store is no longer wanted in an executor, or somebody says so who knows too little. */
  private[this] def unload(): Unit = if (random.chance(plan.unloading)) {
    oneOf(cluster.executors)(executor =>
      oneOf(executor.providers.toVector) { case (key, provider) =>
        if (mayUnload(provider)) {
          if (random.chance(0.5)) {
            snapshots(executor, provider)
            if (executor.isAlive) cleanup(executor, provider)
          }
          if (executor.providers.get(key).contains(provider)) {
            executor.providers -= key
            provider.close()
            world.trace.add(executor.name, "unloads", provider.key.folder)
          }
        }
      })
  }

  // An attempt that is in a store when it is unloaded writes on. Where attempts differ and write the same
  // file, another one that finds the store loaded anew would be late, as if it were elsewhere.
  private[this] def mayUnload(provider: SimProvider): Boolean =
    provider.mayCommit && !provider.inSnapshot && !provider.inCleanup &&
      (!plan.attemptsReplace ||
        !world.standing.exists(_.attempt.exists(_.isIn(provider))))

  private[this] def read(): Unit = if (world.model.newest > 0) new Reader(world).run()

  private[this] def as(executor: SimExecutor, provider: SimProvider, what: String)(
      body: => Unit): Unit = {
    world.trace.add(executor.name, s"begins $what", provider.key.folder)
    try SimTask.none(world.within(new Frame(executor, Some(provider)))(body))
    catch {
      case _: Throwable if !world.goesOn(executor) =>
      case e: Throwable => world.noteThrown(s"$what of ${executor.name} threw", e)
    }
  }
}

private object Scheduler {
  // Each takes batches away, and the history has to come to its last one.
  private val MostSetBacks = 2L
}
