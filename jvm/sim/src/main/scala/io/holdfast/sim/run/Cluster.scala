package io.holdfast.sim.run

import scala.collection.mutable

import io.holdfast.sim.world.{Process, StoreKey}

/** A process that runs tasks and keeps stores, by run of the query. */
final class SimExecutor(number: Int) extends Process(s"executor-$number", isWatched = true) {
  val providers = mutable.LinkedHashMap.empty[(Int, StoreKey), SimProvider]
  val queue = mutable.ArrayBuffer.empty[Work]
}

/** The executors and the runs of the query. */
final class Cluster(world: World) {
  private[this] var executorCount = 0
  private[this] var runCount = 0
  private[this] var newestOfBefore = -1
  private[this] val running = mutable.ArrayBuffer.empty[SimExecutor]
  private[this] val started = mutable.ArrayBuffer.empty[Driver]

  /** Attempts that are to run. */
  val pending = mutable.ArrayBuffer.empty[Attempt]

  def executors: collection.IndexedSeq[SimExecutor] = running

  /** Runs that go on, zombies among them. */
  def drivers: collection.IndexedSeq[Driver] = started

  def begin(): Unit = {
    (1 to world.plan.executors).foreach(_ => newExecutor())
    val _ = newDriver()
  }

  def newExecutor(): SimExecutor = {
    executorCount += 1
    val made = new SimExecutor(executorCount)
    running += made
    made
  }

  def newDriver(): Driver = {
    runCount += 1
    val made = new Driver(world, runCount)
    started += made
    world.trace.add(made.name, "begins", "")
    made
  }

  /** The provider of a store in an executor, made when it is first asked for. */
  def provider(executor: SimExecutor, run: Int, store: StoreKey): SimProvider =
    executor.providers.getOrElseUpdate(
      (run, store), {
        val made = new SimProvider(world, executor, run, store)
        made.begin(if (world.isCalm) world.settings.unlimited else world.settings.limited)
        made
      })

  /** A process dies in the middle of what it does. Where it is the only executor the driver may be in it
    * too.
    */
  def crash(process: Process): Unit = if (process.isAlive) {
    world.counters.crashes += 1
    world.trace.add(process.name, "dies", "")
    process.die()
    world.died(process)
    process match {
      case executor: SimExecutor =>
        running -= executor
        executor.queue.clear()
        newExecutor()
        // Attempts differ where there is one JVM for all.
        if (world.plan.executors == 1) started.toVector.foreach(stop)
        if (started.isEmpty) { val _ = newDriver() }
      case _ =>
    }
  }

  /** All processes die at once, and the disk forgets what it has not written yet. */
  def losePower(): Unit = {
    world.counters.powerLosses += 1
    world.trace.add("everything", "loses power", "")
    started.toVector.foreach(stop)
    running.toVector.foreach(crash)
    world.forgetUnsynced()
  }

  /** The driver is lost, and another run of the query begins. It may go on as a zombie, and so may what
    * it has begun.
    */
  def restart(driver: Driver): Unit = {
    world.trace.add(driver.name, "is lost", "")
    if (world.plan.executors == 1) running.toVector.foreach(crash)
    else {
      if (!world.plan.zombies) stop(driver)
      else if (world.random.chance(0.5) || started.size > 2) lose(driver)
      newDriver()
    }
    ()
  }

  /** The user stops the query, gives up all batches after a version, and starts it again. Executors stay,
    * with the stores of the runs before, which are maintained until somebody says that they are not wanted.
    */
  def setBack(version: Long): Unit = {
    world.trace.add("the user", "sets the query back", "", version)
    started.toVector.foreach(stop)
    pending.clear()
    world.model.setBack(version, world.plan.retained)
    newestOfBefore = newDriver().run - 1
  }

  /** Whether a provider is of a run before the query was set back. */
  def isOfBefore(provider: SimProvider): Boolean = provider.run <= newestOfBefore

  /** A run ends, and what it wanted with it. */
  def stop(driver: Driver): Unit = {
    lose(driver)
    pending.filterInPlace(_.driver ne driver)
    ()
  }

  private[this] def lose(driver: Driver): Unit = started -= driver
}
