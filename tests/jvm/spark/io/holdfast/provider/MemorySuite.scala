package io.holdfast.provider

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{CustomMetrics, Provider, Put, TestStore}

/** Which versions stay in memory (`spark.sql.streaming.maxBatchesToRetainInMemory`). */
class MemorySuite extends AnyFunSuite {

  private val hits = "loadedMapCacheHitCount"
  private val misses = "loadedMapCacheMissCount"

  private def inMemory[A](versions: Int)(body: TestStore => A): A =
    TestStore.use(Provider().inMemory(versions)) { store =>
      (0L until 4L).foreach(version => store.commit(version, Put("a", version)))
      body(store)
    }

  private def counter(store: TestStore, version: Long, name: String): Long = {
    val open = store.write(version)
    try CustomMetrics(open, name)
    finally open.abort()
  }

  test("with 0, none stays and every opening reads the files") {
    inMemory(0) { store =>
      assert(store.versionsInMemory.isEmpty)
      assert(store.counts(4) == Map("a" -> 3L))
      assert(store.counts(2) == Map("a" -> 1L))
      assert(store.versionsInMemory.isEmpty)
      assert(counter(store, 4, hits) == 0)
      // Versions 1 to 3 for the batches after them, and the three just now.
      assert(counter(store, 4, misses) == 3 + 4)
    }
  }

  test("with 1, the newest stays") {
    inMemory(1) { store =>
      assert(store.versionsInMemory == Seq(4))
      assert(counter(store, 4, misses) == 0)
      assert(counter(store, 4, hits) == 3 + 2)
    }
  }

  test("with 2, the newest two stay, so that a batch can be retried") {
    inMemory(2) { store =>
      assert(store.versionsInMemory == Seq(3, 4))
      assert(store.counts(3) == Map("a" -> 2L))
      assert(counter(store, 3, misses) == 0)
    }
  }

  test("an older version that is read does not push newer ones out") {
    inMemory(2) { store =>
      assert(store.counts(1) == Map("a" -> 0L))
      assert(store.versionsInMemory == Seq(3, 4))
      assert(counter(store, 4, misses) == 1)
    }
  }

  test("a version that was loaded stays while there is room") {
    inMemory(2) { store =>
      store.reopen()
      assert(store.counts(2) == Map("a" -> 1L))
      assert(store.versionsInMemory == Seq(2))
      assert(counter(store, 2, misses) == 1)
      assert(counter(store, 2, hits) == 2)
    }
  }

  test("closing a provider forgets them") {
    inMemory(2) { store =>
      store.close()
      assert(store.versionsInMemory.isEmpty)
    }
  }
}
