package io.holdfast.sim.run

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}

import io.holdfast.sim.world._

/** What a task does with one of its stores, as an operator would, and what it must find there. */
abstract class StoreWork(
    world: World,
    provider: SimProvider,
    store: StoreKey,
    version: Long,
    id: Option[String],
    changes: Changes) {
  import world.random

  /** What the version holds that it starts from. */
  final protected val start: Content = world.model
    .content(store, version, id)
    .getOrElse(world.fail(s"no attempt has made version $version (id $id) of $store"))

  /** The store that it writes. */
  final protected var opened: StateStore = _

  /** What the version holds that it makes; known when the changes are made. */
  def content: Content

  /** Looks at some of what a store has before anything is changed. */
  protected def look(found: ReadStateStore): Unit

  /** Makes the changes. */
  def change(): Unit

  /** Looks at what is still open when the version is made. */
  protected def afterCommit(): Unit

  /** How many keys the version has that it makes. */
  protected def keyCount: Int

  /** How many changes a delta may have at most, if that is known. */
  protected def mostRecords: Option[Int] = None

  /** The name of the file of the version that it makes. */
  final def made: String = store.file(version + 1, newId)

  private[this] def newId: Option[String] = opened.getStateStoreCheckpointInfo().stateStoreCkptId

  final def open(): Unit = {
    val forced = random.chance(world.plan.forcedSnapshots)
    if (changes.replaces) opened = provider.getStore(version, None, forced, loadEmpty = true)
    else if (world.plan.pattern == Pattern.Aggregation) {
      val read = provider.getReadStore(version, id)
      look(read)
      opened =
        if (random.chance(0.5)) provider.upgradeReadStoreToWriteStore(read, version, id, forced)
        else {
          read.abort()
          provider.getStore(version, id, forced, loadEmpty = false)
        }
    } else opened = provider.getStore(version, id, forced, loadEmpty = false)
    if (!changes.replaces) look(opened)
  }

  final def abort(): Unit = opened.abort()

  /** @return the id of the version that was made, if it has one */
  final def commit(): (StoreKey, Option[String]) = {
    val number = opened.commit()
    if (number != version + 1) wrong(s"committed version $number", s"${version + 1}")
    if (random.chance(0.2)) expectNumbers()
    afterCommit()
    store -> newId
  }

  private[this] def expectNumbers(): Unit = {
    val metrics = opened.metrics
    if (metrics.numKeys != keyCount) wrong(s"reports ${metrics.numKeys} keys", s"$keyCount")
    if (metrics.memoryUsedBytes < 0) wrong(s"holds ${metrics.memoryUsedBytes} bytes", "0 or more")
    metrics.customMetrics.find(_._1.name == "holdfastDeltaRecords").foreach { case (_, records) =>
      mostRecords
        .filter(records > _)
        .foreach(most => wrong(s"reports $records changes", s"at most $most"))
    }
    if (provider.process.heldBytes.get < 0) {
      wrong(s"and all beside it hold ${provider.process.heldBytes.get} bytes", "0 or more")
    }
  }

  final protected def wrong(found: String, expected: String): Nothing =
    wrong(s"$found, expected $expected")

  final protected def wrong(found: String): Nothing = world.fail(
    s"${provider.process.name}: version $version (id ${id.getOrElse("none")}) of $store $found")
}

object StoreWork {

  def of(
      world: World,
      provider: SimProvider,
      store: StoreKey,
      version: Long,
      id: Option[String],
      changes: Changes): StoreWork = (changes, world.plan.families) match {
    case (changes: RowChanges, _) => new RowWork(world, provider, store, version, id, changes)
    case (changes: FamilyBatch, Some(families)) =>
      new FamilyWork(world, provider, store, version, id, families, changes)
    case (other, _) => throw new IllegalArgumentException(s"nobody does $other")
  }
}
