package io.holdfast.sim.run

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, UnsafeRowPair}

import io.holdfast.sim.families.Difference
import io.holdfast.sim.world._

/** What a task does with a store that has no column families. */
final class RowWork(
    world: World,
    provider: SimProvider,
    store: StoreKey,
    version: Long,
    id: Option[String],
    changes: RowChanges)
    extends StoreWork(world, provider, store, version, id, changes) {
  import world.random

  // Of its own: while it puts a row, the file of its delta is written, and others do something.
  private[this] val rows = new Rows(world.plan.noteBytes)
  private[this] val base: Map[Key, Value] = start match {
    case RowContent(rows) => rows
    case other => world.fail(s"$store has no column families, and its model $other")
  }
  private[this] val after: Map[Key, Value] = changes.applyTo(base)

  override def content: RowContent = RowContent(after)

  override protected def look(found: ReadStateStore): Unit =
    if (!world.plan.hints && random.chance(0.3)) expect(base, "has", found.iterator())
    else changes.puts.take(3).foreach { case (key, _) => find(found, key, base.get(key)) }

  private[this] def find(found: ReadStateStore, key: Key, expected: Option[Value]): Unit = {
    val value = Option(found.get(rows.key(key))).map(Rows.valueOf)
    if (value != expected) wrong(s"has $value for $key", s"$expected")
  }

  override def change(): Unit = {
    val puts = random.shuffled(changes.puts).iterator
    val removes = random.shuffled(changes.removes).iterator
    while (puts.hasNext || removes.hasNext) {
      if (puts.hasNext && (!removes.hasNext || random.chance(0.5))) {
        val (key, value) = puts.next()
        if (random.chance(0.2)) opened.put(rows.key(key), rows.value(value.copy(count = -1)))
        opened.put(rows.key(key), rows.value(value))
        if (random.chance(0.1)) find(opened, key, Some(value))
      } else opened.remove(rows.key(removes.next()))
    }
    if (world.plan.pattern == Pattern.Sessions) scan()
    changes.expired.foreach(expire)
  }

  private[this] def scan(): Unit = changes.puts.headOption.foreach { case (key, _) =>
    val expected = changes.copy(expired = None).applyTo(base).filter(_._1.group == key.group)
    expect(expected, "finds", opened.prefixScan(rows.prefix(key.group)))
  }

  // Rows beside those that are removed may be shown or not.
  private[this] def expire(at: Long): Unit = {
    val expected = changes.copy(expired = None).applyTo(base)
    val walk = opened.iterator()
    var shown = Map.empty[Key, Value]
    walk.foreach { pair =>
      val key = Rows.keyOf(pair.key)
      val value = Rows.valueOf(pair.value)
      if (shown.contains(key) || !expected.get(key).contains(value)) {
        wrong(s"shows $key -> $value", s"${expected.get(key)}, once")
      }
      shown += key -> value
      if (value.time <= at) changes.renewed(key, value, at) match {
        case None => opened.remove(pair.key)
        case Some(renewed) => opened.put(rows.key(key), rows.value(renewed))
      }
    }
    walk.close()
    (expected.filter(_._2.time <= at).keySet -- shown.keySet).foreach(key =>
      wrong(s"does not show $key", s"${expected(key)}, which has expired at $at"))
  }

  override protected def afterCommit(): Unit =
    if (!changes.replaces && !world.plan.hints && random.chance(0.2)) {
      expect(after, "after its commit has", opened.iterator())
    }

  override protected def keyCount: Int = after.size

  override protected def mostRecords: Option[Int] =
    Option.when(!changes.replaces)(changes.puts.size + base.size + changes.removes.size)

  private[this] def expect(
      expected: Map[Key, Value],
      verb: String,
      found: Iterator[UnsafeRowPair]): Unit =
    Difference.ofRows(expected, found).foreach(found => wrong(s"$verb $found"))
}
