package io.holdfast.sim.run

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}

import io.holdfast.sim.families.{Calls, CheckedStore, Difference}
import io.holdfast.sim.world._

/** What a task does with a store that has column families. */
final class FamilyWork(
    world: World,
    provider: SimProvider,
    store: StoreKey,
    version: Long,
    id: Option[String],
    families: FamilyPlan,
    changes: FamilyBatch)
    extends StoreWork(world, provider, store, version, id, changes) {
  import world.random

  private[this] val base = start match {
    case base: FamilyContents => base
    case other => world.fail(s"$store has column families, and its model $other")
  }
  private[this] var checked: CheckedStore = _

  override def content: FamilyContents = checked.content

  override protected def look(found: ReadStateStore): Unit = {
    // Who writes has the family that every store has.
    val expected = found match {
      case _: StateStore => base.withDefault(families.default)
      case _ => base
    }
    if (random.chance(0.3)) expect(expected, "has", found)
  }

  override def change(): Unit = {
    val from = if (changes.replaces) FamilyContents.none else base
    checked = new CheckedStore(
      opened,
      world.rows,
      families.evolves,
      from.withDefault(families.default),
      found => wrong(found))
    val calls = new Calls(checked, changes.salt)
    changes.calls.foreach(calls.run)
    if (random.chance(0.1)) expect(content, "with its changes has", opened)
  }

  override protected def afterCommit(): Unit = {
    checked.endWalks()
    if (random.chance(0.2)) expect(content, "after its commit has", opened)
  }

  override protected def keyCount: Int = content.keyCount

  private[this] def expect(expected: FamilyContents, verb: String, found: ReadStateStore): Unit =
    Difference.of(expected, found, world.rows).foreach(found => wrong(s"$verb $found"))
}
