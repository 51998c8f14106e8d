package io.holdfast.sim.run

import scala.util.control.ControlThrowable

import org.apache.spark.holdfast.SimTask

import io.holdfast.eviction.EvictionHint
import io.holdfast.memory.MemoryLimitException
import io.holdfast.sim.world._

/** An attempt at a task: a partition of a batch, in an executor.
  *
  * @param bases
  *   the ids of the versions that the batch starts from
  * @param number
  *   how many attempts at its task there were before it
  * @param salt
  *   what it puts differs by this from what others put
  */
final class Attempt(
    world: World,
    val driver: Driver,
    val executor: SimExecutor,
    batch: Batch,
    val partition: Int,
    bases: Map[StoreKey, Option[String]],
    number: Int,
    salt: Long) {
  import Attempt._

  private[this] var result = Option.empty[Result]
  private[this] var promised = Map.empty[String, Content]
  private[this] val stores = world.stores.filter(_.partition == partition)

  /** Whether it has ended, one way or other. */
  def isOver: Boolean = result.isDefined

  /** The ids of the versions that it made, as far as its driver knows. */
  def answer: Option[Map[StoreKey, Option[String]]] = result.collect { case Made(ids) => ids }

  /** Its executor has died before it began. */
  def isLost(): Unit = result = Some(Failed)

  /** Whether nothing that stands still would keep it waiting. */
  def mayBegin: Boolean = stores.forall { store =>
    val provider = world.cluster.provider(executor, driver.run, store)
    // What replaces all state waits for the snapshot that is being written.
    provider.mayLoad && provider.mayReplace(batch.number + 1) &&
    !(batch.changes(store).replaces && world.standing.exists(_.store.contains(provider)))
  }

  /** Whether a store is one of those that it works with. */
  def isIn(provider: SimProvider): Boolean =
    (provider.process eq executor) && provider.run == driver.run &&
      provider.key.partition == partition

  def run(): Unit = {
    world.counters.attempts += 1
    world.trace.add(
      executor.name,
      s"attempts ${driver.name}",
      s"partition $partition",
      batch.number)
    val faultsBefore = executor.faults
    val task = new SimTask(hints, world.defect.fold(number)(_.attemptNumber(number)))
    val frame = new Frame(executor, None, Some(this))
    try {
      val ids = task(world.within(frame)(work()))
      // The answer may get lost: then the driver tries again what was done.
      result = Some(if (world.random.chance(lostResults)) Failed else Made(ids))
    } catch {
      case e: Throwable =>
        result = Some(Failed)
        if (world.goesOn(executor) && !isExcused(e, faultsBefore)) {
          world.noteThrown(s"an attempt at batch ${batch.number} in ${executor.name} failed", e)
        }
    }
    if (world.goesOn(executor)) {
      // It gives up the file of a delta that was begun, and may die of that.
      try task.end()
      catch { case _: Dead if !world.goesOn(executor) => }
    }
    world.trace.add(executor.name, if (answer.isDefined) "succeeded" else "failed", driver.name)
  }

  private[this] def lostResults = if (world.isCalm) 0.0 else world.plan.lostResults

  /** Says that a file of it has appeared. */
  def appeared(path: String): Unit = {
    val isWhole = path.endsWith(".snapshot") && batch.changes.exists(_._2.replaces)
    if (path.endsWith(".delta") || isWhole) {
      val file = path.substring(0, path.lastIndexOf('.'))
      promised.get(file).foreach(world.model.appeared(file, _))
    }
  }

  private[this] def work(): Map[StoreKey, Option[String]] = {
    val works = stores.map { store =>
      val changes = if (salt == 0) batch.changes(store) else batch.changes(store).salted(salt)
      val provider = world.cluster.provider(executor, driver.run, store)
      StoreWork.of(world, provider, store, batch.number, bases(store), changes)
    }
    works.foreach(_.open())
    works.foreach(_.change())
    if (!world.isCalm && world.random.chance(world.plan.aborts)) {
      works.foreach(_.abort())
      throw new Aborted
    }
    works.map { work =>
      promised += work.made -> work.content
      work.commit()
    }.toMap
  }

  private[this] def hints: Map[String, String] =
    if (!world.plan.hints) Map.empty
    else
      stores.flatMap { store =>
        batch.changes(store).expired.map { at =>
          EvictionHint.property(StoreSettings.runId(driver.run), 0L, store.name) ->
            EvictionHint.text(batch.number, EvictionHint.OwnTimes(Rows.At, at))
        }
      }.toMap

  // Why an attempt may fail, beside the file system.
  private[this] def isExcused(e: Throwable, faultsBefore: Long): Boolean = {
    val causes = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).toList
    e.isInstanceOf[Aborted] ||
    executor.faults != faultsBefore ||
    causes.exists(_.isInstanceOf[MemoryLimitException]) ||
    // It is late: nobody promises it the versions that it wants.
    batch.number < world.model.newest ||
    world.plan.faults.lateListingMillis > 0 ||
    world.isDamaged
  }
}

object Attempt {
  sealed private trait Result
  private final case class Made(ids: Map[StoreKey, Option[String]]) extends Result
  private case object Failed extends Result

  /** A task that gives up what it has begun. */
  private final class Aborted extends ControlThrowable
}
