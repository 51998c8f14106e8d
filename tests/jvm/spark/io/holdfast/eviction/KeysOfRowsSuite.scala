package io.holdfast.eviction

import org.apache.spark.holdfast.FakeTask
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.eviction.EvictionHint.{LookedInto, TimesOf}
import io.holdfast.memory.{MemoryLimit, StoreMemory}
import io.holdfast.rows.KeysOfRows
import io.holdfast.table.{MemoryUse, RefusingMemory}
import io.holdfast.testkit.{CustomMetrics, TemporaryFolder}

/** What a join by value does where there is no memory for the keys whose values have expired. */
class KeysOfRowsSuite extends AnyFunSuite {
  import HintedStores.{At, Numbers, Values}

  private val keys = 50000

  private def committed(stores: HintedStores): Unit = {
    val open = stores.write(0)
    (1 to keys).foreach(number => open.put(number.toLong, number.toLong, number.toLong))
    open.commit()
  }

  private def opened(stores: HintedStores, upTo: Long, memory: MemoryUse): Option[KeysOfRows] =
    KeysOfRows.open(
      stores.version(1),
      HintedStores.keySchema,
      stores.versionOfValues(1).cursorUpTo(At, upTo),
      memory)

  private def count(walk: KeysOfRows): Int =
    Iterator.continually(walk.next()).takeWhile(identity).size

  test("each refusal ends the search for keys, which then holds nothing") {
    TemporaryFolder.use { folder =>
      val stores = new HintedStores(folder)
      try {
        committed(stores)
        val needed = new RefusingMemory(Long.MaxValue)
        val walk = opened(stores, keys.toLong, needed)
        val most = needed.held
        assert(most > 0L)
        assert(walk.map(count).contains(keys))
        assert(needed.held === 0L)
        (0L until most by most / 20).foreach { limit =>
          val refusing = new RefusingMemory(limit)
          assert(opened(stores, keys.toLong, refusing).isEmpty)
          assert(refusing.refused === 1L)
          assert(refusing.held === 0L)
        }
        val few = opened(stores, 10L, new RefusingMemory(1000L))
        assert(few.map(count).contains(10))
      } finally stores.close()
    }
  }

  private val limit = StoreMemory.heldInThisJvm + (64L << 20)

  // What a batch in which all values expire walks over, and how many hints it took, when stores may
  // take so many bytes more.
  private def walked(stores: HintedStores, room: Long): (Int, Long) = {
    val task = new FakeTask(
      stores.property(Numbers, 1, TimesOf(Values, Long.MaxValue)),
      stores.property(Values, 1, LookedInto(Some(At))))
    val others = new StoreMemory("others", MemoryLimit.of(Long.MaxValue))
    val use = others.newUse()
    try
      task {
        val open = stores.write(1)
        use.holds(limit - StoreMemory.heldInThisJvm - room)
        try open.walked.size -> CustomMetrics(open.values, "holdfastEvictionHintCount")
        finally open.abort()
      }
    finally {
      use.end()
      others.close()
      task.end()
    }
  }

  test("a batch near the memory limit walks over all keys instead") {
    TemporaryFolder.use { folder =>
      val setting = "spark.sql.streaming.stateStore.holdfast.memoryLimit" -> s"$limit"
      val stores = new HintedStores(folder, Map(setting))
      try {
        committed(stores)
        assert(walked(stores, room = 16L << 20) === (keys -> 1L))
        // Keys take 32 bytes and more each on the way, and the bits of their pages two.
        assert(walked(stores, room = 600L << 10) === (keys -> 0L))
      } finally stores.close()
    }
  }
}
