package io.holdfast.snapshots

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import io.holdfast.testkit.{CustomMetrics, Provider, Put, TestStore}
import io.holdfast.{CoordinatedStores, SurroundedProvider}

/** Policy, maintenance and the rule of Spark's coordinator together, at their defaults, on a clock in
  * the test's hands: the coordinator never has to ask for a snapshot.
  */
class SnapshotsAheadSuite extends AnyFunSuite {
  import SurroundedProvider.{background, clock}

  // No codec makes these much smaller, so that small deltas do not cost as much as the snapshot.
  private val large = {
    val random = new scala.util.Random(7)
    (0 until 4000).map(n => Put(s"k$n", n, random.alphanumeric.take(8000).mkString))
  }

  /** A query on one store: batches with pauses, and maintenance each minute. */
  private final class Query(store: TestStore) {
    private val started = clock.millis
    private var maintained = started
    private var newest = 0L
    private var snapshot = Option.empty[(Long, Long)]

    /** How often the coordinator would have told the store to write a snapshot. */
    var asked = 0
    var snapshots = 0

    def batch(pauseMillis: Long, changes: Put*): Unit = {
      val isLate = isTakenForLate
      if (isLate) asked += 1
      val open = store.write(newest, forceSnapshot = isLate)
      changes.foreach(_.applyTo(open))
      newest = open.commit()
      background.run()
      look()
      idle(pauseMillis)
    }

    def idle(millis: Long): Unit = {
      val until = clock.millis + millis
      while (maintained + 60000L <= until) {
        clock.pass(maintained + 60000L - clock.millis)
        maintained = clock.millis
        store.provider.doMaintenance()
        look()
      }
      clock.pass(until - clock.millis)
    }

    // As `StateStoreCoordinator.findLaggingStores` has it (Spark 4.2 and 4.3).
    private def isTakenForLate: Boolean = {
      val (version, millis) = snapshot.getOrElse((0L, Long.MinValue / 2))
      newest - version > 5 * 10 && clock.millis - millis > 10 * 60000L
    }

    private def look(): Unit = {
      val found = store.fileNames.collect { case s"$number.snapshot" => number.toLong }
      found.maxOption.filter(_ > snapshot.fold(0L)(_._1)).foreach { version =>
        snapshot = Some((version, clock.millis))
        snapshots += 1
      }
    }
  }

  private def query[A](body: Query => A): A = {
    SurroundedProvider.begin()
    TestStore.use(Provider(className = classOf[SurroundedProvider].getName))(store =>
      body(new Query(store)))
  }

  for ((pause, batches) <- Seq(100L -> 3000, 1000L -> 1800, 3000L -> 600, 12000L -> 150)) {
    test(
      s"$batches small deltas to a large state, one every $pause ms",
      (if (batches > 1000) Seq(Slow) else Nil): _*) {
      query { query =>
        query.batch(pause, large: _*)
        (1 to batches).foreach(n => query.batch(pause, Put("a", n.toLong)))
        assert(query.asked == 0)
        // By Spark's own rule it would be one a minute, and where a minute has more deltas than a repair
        // may replay, it is.
        val shortest = if (pause * 250 < 60000) 60000L else 300000L
        assert(query.snapshots <= 2 + pause * batches / shortest)
      }
    }
  }

  test("a night without batches, and then as many within a minute as maintenance never sees") {
    query { query =>
      query.batch(1000L, large: _*)
      (1L to 40L).foreach(n => query.batch(100L, Put("a", n)))
      query.idle(8L * 3600000L)
      (1L to 200L).foreach(n => query.batch(100L, Put("b", n)))
      assert(query.asked == 0)
    }
  }
}

/** The same with Spark's own coordinator, for a store that has no snapshot yet: it is late as soon as
  * there are 50 versions.
  */
class FirstSnapshotSuite extends CoordinatedStores {

  test("a new store has its first snapshot before the coordinator asks for it") { stores =>
    (0L until 60L).foreach { version =>
      stores.coordinator.findLagging(stores.id.queryRunId, version)
      val open = stores.write(version)
      stores.put(open, "a", version.toInt)
      open.commit()
      stores.awaitSnapshots()
      assert(CustomMetrics(open, "forceSnapshotCount") == 0, s"- at version $version")
    }
    assert(stores.coordinator.snapshotOf(stores.id).exists(_ > 20L))
  }
}
