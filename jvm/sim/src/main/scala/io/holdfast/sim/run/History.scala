package io.holdfast.sim.run

import io.holdfast.sim.world.{Dead, Plan, SimRandom, Trace}

/** What came of a history.
  *
  * @param failure
  *   what was not as it must be
  * @param hash
  *   of all that happened, in its order
  */
final case class Outcome(
    seed: Long,
    plan: Plan,
    failure: Option[String],
    hash: Long,
    operations: Long,
    counters: Counters)

/** One history: a query runs, things go wrong, and then everything is held against the model. */
object History {

  /** Simulates what follows from a seed.
    *
    * @param defect
    *   what is made wrong on purpose
    * @param crashAt
    *   the operation on files at which the process dies that does it, beside what the seed says
    * @param show
    *   is told every event
    */
  def of(
      seed: Long,
      defect: Option[Defect] = None,
      crashAt: Option[Long] = None,
      show: Option[String => Unit] = None): Outcome = {
    val random = new SimRandom(seed)
    val made = Plan.of(random.fork())
    val plan = defect.fold(made)(_.plan(made))
    val trace = new Trace(show)
    val world = new World(plan, random, trace, defect, crashAt)
    try {
      storm(world)
      calm(world)
    } catch {
      case _: Dead if world.failure.isDefined =>
      case e: Throwable => world.noteThrown("the simulator failed", e)
    }
    Outcome(seed, plan, world.failure, trace.hash, world.watchedOperations, world.counters)
  }

  private val MostSteps = 600

  private def storm(world: World): Unit = {
    world.cluster.begin()
    var steps = 0
    while (steps < MostSteps && world.model.newest < world.plan.batches && world.failure.isEmpty) {
      steps += 1
      world.scheduler.step()
    }
    stopIfFailed(world)
  }

  private def calm(world: World): Unit = {
    world.isCalm = true
    world.cluster.drivers.toVector.foreach(world.cluster.stop)
    val verification = new Verification(world)
    val calm = new Calm(world)
    verification.withHoldfast()
    if (world.isDamaged) calm.end()
    else {
      calm.goOn()
      verification.withHoldfast()
      if (world.random.chance(0.2)) verification.withSpark()
      verification.ofChanges()
      verification.ofFiles()
      if (world.plan.longEnd) verification.ofRecovery()
    }
    stopIfFailed(world)
  }

  private def stopIfFailed(world: World): Unit = if (world.failure.isDefined) throw new Dead
}
