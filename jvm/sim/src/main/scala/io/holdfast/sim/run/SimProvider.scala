package io.holdfast.sim.run

import java.util.concurrent.{Executor, RejectedExecutionException}

import org.apache.spark.sql.execution.streaming.state.{
  KeyStateEncoderSpec,
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  StateStoreConf,
  StateStoreId
}

import io.holdfast.HoldfastStateStoreProvider
import io.holdfast.sim.world.{Pattern, Process, Rows, StoreKey}
import io.holdfast.surroundings.{Beside, StoreActivity, Surroundings}

/** Holdfast's provider in a process of a simulated world. */
final class SimProvider(world: World, val process: Process, val run: Int, val key: StoreKey)
    extends HoldfastStateStoreProvider {

  /** Whether somebody is writing a snapshot of it on the timer, or deleting its files. */
  var inSnapshot = false
  var inCleanup = false

  override private[holdfast] def surroundings: Surroundings = Surroundings(
    world.clock,
    queue("snapshot"),
    queue("fetch"),
    new Beside(sometimes, worthFrom = if (world.random.chance(0.5)) 0L else Long.MaxValue),
    (_, _) => world.files(process),
    process.heldBytes,
    newAttempt = () => world.newAttempt(),
    activity = _ =>
      new StoreActivity {
        override def isKept: Boolean = !world.cluster.isOfBefore(SimProvider.this)
        override def isActive: Boolean = isKept
        override def goesOn: Boolean = isKept
      },
    leastLimitBytes = 1L)

  /** Learns what Spark tells it. */
  def begin(conf: StateStoreConf): Unit = init(
    StateStoreId(StoreKey.Root, 0L, key.partition, key.name),
    Rows.keySchema,
    Rows.valueSchema,
    encoder,
    useColumnFamilies = world.plan.families.isDefined,
    conf,
    world.settings.hadoop(run),
    useMultipleValuesPerKey = world.plan.families.exists(_.default.lists),
    None)

  private[this] def encoder: KeyStateEncoderSpec =
    world.plan.families.map(_.default.scan.encoder).getOrElse {
      if (world.plan.pattern == Pattern.Sessions) PrefixKeyScanStateEncoderSpec(Rows.keySchema, 1)
      else NoPrefixKeyStateEncoderSpec(Rows.keySchema)
    }

  /** Whether somebody who may load a version can begin now: nobody stands still in there who would keep
    * it waiting.
    */
  def mayLoad: Boolean = mayCommit && !Thread.holdsLock(store.versions.loadLock)

  /** Whether somebody who loads nothing can begin now. */
  def mayCommit: Boolean = !Thread.holdsLock(store.commitLock)

  /** Whether an attempt at a version can end: no snapshot of another one is just about to appear. */
  def mayReplace(version: Long): Boolean =
    store.commitLock.synchronized(!store.race.isAppearing(version))

  private[this] def queue(kind: String): Executor = work =>
    process match {
      case executor: SimExecutor =>
        if (!world.isCalm && world.random.chance(0.05)) throw new RejectedExecutionException(kind)
        executor.queue += new Work(this, kind, work)
      case _ =>
    }

  // At once, never, or not at all.
  private[this] def sometimes: Executor = work =>
    world.random.below(3) match {
      case 0 =>
        work.run()
        // Whoever asks learns later what came of it, and nobody does anything in a process that has died.
        world.requireAlive(process)
      case 1 =>
      case _ => throw new RejectedExecutionException("commit")
    }
}

/** What waits for a thread. */
final class Work(val provider: SimProvider, val kind: String, val body: Runnable)
