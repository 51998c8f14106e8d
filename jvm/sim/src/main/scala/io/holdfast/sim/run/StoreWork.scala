package io.holdfast.sim.run

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore, UnsafeRowPair}

import io.holdfast.sim.world._

/** What a task does with one of its stores, as an operator would, and what it must find there. */
final class StoreWork(
    world: World,
    provider: SimProvider,
    store: StoreKey,
    version: Long,
    id: Option[String],
    changes: Changes) {
  import world.{random, rows}

  private[this] val base: Rows.Content = world.model
    .content(store, version, id)
    .getOrElse(world.fail(s"no attempt has made version $version (id $id) of $store"))
  private[this] var open: StateStore = _

  /** What the version holds that it makes. */
  val content: Rows.Content = changes.applyTo(base)

  /** The name of the file of that version. */
  def made: String = store.file(version + 1, newId)

  private[this] def newId: Option[String] = open.getStateStoreCheckpointInfo().stateStoreCkptId

  def open(): Unit = {
    val forced = random.chance(world.plan.forcedSnapshots)
    if (changes.replaces) open = provider.getStore(version, None, forced, loadEmpty = true)
    else if (world.plan.pattern == Pattern.Aggregation) {
      val read = provider.getReadStore(version, id)
      look(read)
      open =
        if (random.chance(0.5)) provider.upgradeReadStoreToWriteStore(read, version, id, forced)
        else {
          read.abort()
          provider.getStore(version, id, forced, loadEmpty = false)
        }
    } else open = provider.getStore(version, id, forced, loadEmpty = false)
    if (!changes.replaces) look(open)
  }

  private[this] def look(found: ReadStateStore): Unit =
    if (!world.plan.hints && random.chance(0.3)) expect(base, "has", found.iterator())
    else changes.puts.take(3).foreach { case (key, _) => find(found, key, base.get(key)) }

  private[this] def find(found: ReadStateStore, key: Key, expected: Option[Value]): Unit = {
    val value = Option(found.get(rows.key(key))).map(Rows.valueOf)
    if (value != expected) wrong(s"has $value for $key", s"$expected")
  }

  def change(): Unit = {
    val puts = random.shuffled(changes.puts).iterator
    val removes = random.shuffled(changes.removes).iterator
    while (puts.hasNext || removes.hasNext) {
      if (puts.hasNext && (!removes.hasNext || random.chance(0.5))) {
        val (key, value) = puts.next()
        if (random.chance(0.2)) open.put(rows.key(key), rows.value(value.copy(count = -1)))
        open.put(rows.key(key), rows.value(value))
        if (random.chance(0.1)) find(open, key, Some(value))
      } else open.remove(rows.key(removes.next()))
    }
    if (world.plan.pattern == Pattern.Sessions) scan()
    changes.expired.foreach(expire)
  }

  private[this] def scan(): Unit = changes.puts.headOption.foreach { case (key, _) =>
    val expected = changes.copy(expired = None).applyTo(base).filter(_._1.group == key.group)
    expect(expected, "finds", open.prefixScan(rows.prefix(key.group)))
  }

  // Rows beside those that are removed may be shown or not.
  private[this] def expire(at: Long): Unit = {
    val expected = changes.copy(expired = None).applyTo(base)
    val walk = open.iterator()
    var shown = Map.empty[Key, Value]
    walk.foreach { pair =>
      val key = Rows.keyOf(pair.key)
      val value = Rows.valueOf(pair.value)
      if (shown.contains(key) || !expected.get(key).contains(value)) {
        wrong(s"shows $key -> $value", s"${expected.get(key)}, once")
      }
      shown += key -> value
      if (value.time <= at) changes.renewed(key, value, at) match {
        case None => open.remove(pair.key)
        case Some(renewed) => open.put(rows.key(key), rows.value(renewed))
      }
    }
    walk.close()
    (expected.filter(_._2.time <= at).keySet -- shown.keySet).foreach(key =>
      wrong(s"does not show $key", s"${expected(key)}, which has expired at $at"))
  }

  def abort(): Unit = open.abort()

  /** @return the id of the version that was made, if it has one */
  def commit(): (StoreKey, Option[String]) = {
    val number = open.commit()
    if (number != version + 1) wrong(s"committed version $number", s"${version + 1}")
    if (random.chance(0.2)) expectNumbers()
    if (!changes.replaces && !world.plan.hints && random.chance(0.2)) {
      expect(content, "after its commit has", open.iterator())
    }
    store -> newId
  }

  private[this] def expectNumbers(): Unit = {
    val metrics = open.metrics
    if (metrics.numKeys != content.size)
      wrong(s"reports ${metrics.numKeys} keys", s"${content.size}")
    if (metrics.memoryUsedBytes < 0) wrong(s"holds ${metrics.memoryUsedBytes} bytes", "0 or more")
    metrics.customMetrics.find(_._1.name == "holdfastDeltaRecords").foreach { case (_, records) =>
      val most = changes.puts.size + base.size + changes.removes.size
      if (!changes.replaces && records > most) wrong(s"reports $records changes", s"at most $most")
    }
    if (provider.process.heldBytes.get < 0) {
      wrong(s"and all beside it hold ${provider.process.heldBytes.get} bytes", "0 or more")
    }
  }

  private[this] def expect(
      expected: Rows.Content,
      verb: String,
      found: Iterator[UnsafeRowPair]): Unit =
    StoreWork.difference(expected, found).foreach(found => world.fail(s"${place(verb)} $found"))

  private[this] def wrong(found: String, expected: String): Nothing =
    world.fail(s"${place(found)}, expected $expected")

  private[this] def place(found: String): String =
    s"${provider.process.name}: version $version (id ${id.getOrElse("none")}) of $store $found"
}

object StoreWork {

  /** What is different, in words. */
  def difference(expected: Rows.Content, found: Iterator[UnsafeRowPair]): Option[String] = {
    var rest = expected
    var wrong = Option.empty[String]
    found.foreach { pair =>
      val key = Rows.keyOf(pair.key)
      val value = Rows.valueOf(pair.value)
      if (wrong.isEmpty && !rest.get(key).contains(value)) {
        wrong = Some(s"$key -> $value, expected ${expected.get(key)}")
      }
      rest -= key
    }
    wrong.orElse(rest.headOption.map { case (key, value) => s"no $key, expected $value" })
  }
}
