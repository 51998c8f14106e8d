package io.holdfast.provider

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreMetrics}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.memory.{LimitWarning, MemoryLimit, StoreMemory}
import io.holdfast.testkit.{
  Change,
  CustomMetrics,
  LoggedWarnings,
  Provider,
  Put,
  Remove,
  TestRows,
  TestStore
}

/** The numbers that stores report to Spark. */
class MetricsSuite extends AnyFunSuite {

  private def namesOf(className: String): Set[String] =
    Provider().by(className).uninitialised().supportedCustomMetrics.map(_.name).toSet

  private def committed(store: TestStore, version: Long, changes: Change*): StateStoreMetrics = {
    val open = store.write(version)
    changes.foreach(_.applyTo(open))
    open.commit()
    open.metrics
  }

  test("every metric of Spark's provider is there by its name") {
    val missing = namesOf(Provider.Spark) -- namesOf(Provider.Holdfast)
    assert(missing.isEmpty)
    assert((namesOf(Provider.Holdfast) -- namesOf(Provider.Spark)).forall(_.startsWith("holdfast")))
  }

  test("a store reports exactly the metrics that its provider announces") {
    TestStore.use() { store =>
      val open = store.write(0)
      assert(CustomMetrics.of(open.metrics).keySet == namesOf(Provider.Holdfast))
      open.abort()
    }
  }

  test("the key count follows puts and removals before the commit as well as after it") {
    TestStore.use() { store =>
      store.commit(0, Put("a", 1), Put("b", 2))
      val open = store.write(1)
      assert(open.metrics.numKeys == 2)
      Put("c", 3).applyTo(open)
      Put("a", 4).applyTo(open)
      assert(open.metrics.numKeys == 3)
      Remove("b").applyTo(open)
      Remove("never there").applyTo(open)
      assert(open.metrics.numKeys == 2)
      open.commit()
      assert(open.metrics.numKeys == 2)
    }
  }

  test("a delta's records and bytes are those of its file") {
    TestStore.use() { store =>
      store.commit(0, Put("a", 1), Put("b", 2))
      val metrics = CustomMetrics.of(
        committed(store, 1, Put("c", 3), Put("c", 4), Remove("a"), Put("d", 5), Remove("d")))
      assert(metrics("holdfastDeltaRecords") == 2)
      assert(metrics("holdfastDeltaBytes") == store.bytes("2.delta").length)
      assert(CustomMetrics.of(committed(store, 2))("holdfastDeltaRecords") == 0)
    }
  }

  test("memory is counted, grows with the rows, and holds what lives") {
    TestStore.use() { store =>
      val small = committed(store, 0, Put("a", 1))
      assert(small.memoryUsedBytes > 0)
      val puts = (1 to 5000).map(n => Put(s"key $n", n.toLong, "n" * 40))
      val large = committed(store, 1, puts: _*)
      val custom = CustomMetrics.of(large)
      assert(large.memoryUsedBytes > small.memoryUsedBytes + 5000 * 80)
      assert(custom("holdfastLiveBytes") > 5000 * 80)
      assert(custom("holdfastHeldBytes") >= custom("holdfastLiveBytes"))
      assert(custom("stateOnCurrentVersionSizeBytes") <= large.memoryUsedBytes)
    }
  }

  test("memory of a store whose rows are gone is given back") {
    TestStore.use(Provider().inMemory(1)) { store =>
      val puts = (1 to 5000).map(n => Put(s"key $n", n.toLong, "n" * 40))
      val full = committed(store, 0, puts: _*)
      val empty = committed(store, 1, puts.map(put => Remove(put.name)): _*)
      assert(empty.numKeys == 0)
      assert(empty.memoryUsedBytes * 5 < full.memoryUsedBytes)
    }
  }

  test("versions in memory are counted") {
    TestStore.use(Provider().inMemory(2)) { store =>
      val counts = (0L until 4L).map { version =>
        CustomMetrics.of(committed(store, version, Put("a", version)))("holdfastVersionsInMemory")
      }
      assert(counts == Seq(1, 2, 2, 2))
    }
  }

  test("a store loaded from files says how many deltas it replayed, one from memory says none") {
    TestStore.use(Provider().minDeltas(0)) { store =>
      store.commitWithSnapshot(0, Put("a", 0))
      (1L until 5L).foreach(version => store.commit(version, Put("a", version)))
      store.reopen()
      val loaded = store.write(5)
      assert(CustomMetrics(loaded, "holdfastReplayedFiles") == 4)
      loaded.abort()
      val again = store.write(5)
      assert(CustomMetrics(again, "holdfastReplayedFiles") == 0)
      assert(CustomMetrics(again, "loadedMapCacheHitCount") == 1)
      assert(CustomMetrics(again, "loadedMapCacheMissCount") == 1)
      again.abort()
    }
  }

  private def operations(open: StateStore): Map[String, Long] = {
    val custom = CustomMetrics.of(open.metrics)
    Seq("Get", "Put", "Remove", "Iterator", "Scan")
      .map(name => name -> custom(s"holdfast${name}Count"))
      .toMap
  }

  test("what a task asks of a store is counted") {
    TestStore.use() { store =>
      store.commit(0, Put("a", 1), Put("b", 2))
      val open = store.write(1)
      open.get(TestRows.key("none"))
      open.get(TestRows.key("b"))
      Put("c", 3).applyTo(open)
      Put("c", 4).applyTo(open)
      Remove("a").applyTo(open)
      open.iterator().foreach(_ => ())
      val expected =
        Map("Get" -> 2L, "Put" -> 2L, "Remove" -> 1L, "Iterator" -> 1L, "Scan" -> 0L)
      assert(operations(open) == expected)
      open.commit()
      assert(operations(open) == expected)
      val next = store.write(2)
      assert(operations(next).values.forall(_ == 0))
      next.abort()
    }
  }

  test("the parts of a commit take the time that it takes") {
    TestStore.use() { store =>
      val puts = (1 to 20000).map(n => Put(s"key $n", n.toLong))
      val custom = CustomMetrics.of(committed(store, 0, puts: _*))
      val parts = Seq("Records", "File", "Version", "Snapshot")
        .map(part => custom(s"holdfastCommit${part}TimeUs"))
      assert(parts.forall(_ >= 0) && parts.head > 0)
      assert(math.abs(parts.sum / 1000 - custom("holdfastCommitTimeMs")) <= 1)
    }
  }

  test("a store says that the memory limit is near, and the log does once in a while") {
    val limit = "spark.sql.streaming.stateStore.holdfast.memoryLimit"
    TestStore.use(Provider().inMemory(1).set(limit -> "64m")) { store =>
      assert(
        CustomMetrics.of(committed(store, 0, Put("a", 1)))("holdfastNearMemoryLimitCount") == 0)
    }
    var now = 0L
    val warning = new LimitWarning(() => now)
    val memory = new StoreMemory("a store", MemoryLimit.of(1000L), new AtomicLong, warning)
    val said = LoggedWarnings.of(classOf[LimitWarning]) {
      memory.versionsUse(800)
      assert(!memory.isNearLimit)
      memory.versionsUse(801)
      assert(memory.isNearLimit)
      memory.versionsUse(900)
      now += 10L * 60 * 1000000000L
      memory.versionsUse(950)
    }
    assert(said.size == 2)
    assert(said.head.contains(s"hold 801 B and $limit allows 1000 B;"))
  }
}
