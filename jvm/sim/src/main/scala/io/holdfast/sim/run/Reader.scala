package io.holdfast.sim.run

import org.apache.spark.holdfast.SimTask

import io.holdfast.sim.families.Difference
import io.holdfast.sim.world.{Process, StoreKey}

/** Somebody who reads a committed version while the query goes on, as the `statestore` source does: a
  * process of its own that knows nothing yet.
  */
final class Reader(world: World) {
  private[this] val process = new Process(s"reader-${world.number()}", isWatched = true)

  def run(): Unit = {
    val store = world.random.oneOf(world.stores)
    val oldest = world.model.oldestPromised(world.plan.retained)
    val version = oldest + world.random.below((world.model.newest - oldest + 1).toInt)
    world.trace.add(process.name, "reads", store.folder, version)
    try {
      val frame = new Frame(process, None)
      SimTask.none(world.within(frame)(read(store, version)))
    } catch {
      case _: Throwable if !world.goesOn(process) =>
      case e: Throwable =>
        val isPromised = version >= world.model.oldestPromised(world.plan.retained)
        val isExcused = world.plan.faults.lateListingMillis > 0 || world.isDamaged
        if (process.faults == 0 && isPromised && !isExcused) {
          world.noteThrown(s"version $version of $store cannot be read", e)
        }
    }
  }

  private[this] def read(store: StoreKey, version: Long): Unit = {
    val id = world.model.id(store, version)
    val expected = world.model.content(store, version, id)
    val provider = new SimProvider(world, process, 0, store)
    provider.begin(world.settings.unlimited)
    try {
      val found = provider.getReadStore(version, id)
      // What has replaced it meanwhile, where attempts differ, is as good.
      val now = world.model.content(store, version, id)
      if (now == expected) {
        Difference.of(expected.get, found, world.rows).foreach { difference =>
          world.fail(s"${process.name}: version $version of $store has $difference")
        }
      }
      found.abort()
    } finally provider.close()
    if (process.heldBytes.get != 0) {
      world.fail(s"${process.name} is closed and holds ${process.heldBytes.get} bytes")
    }
  }
}
