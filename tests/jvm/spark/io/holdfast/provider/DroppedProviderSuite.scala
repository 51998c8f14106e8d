package io.holdfast.provider

import java.lang.ref.Reference
import java.nio.file.Path

import scala.util.Try

import org.apache.spark.sql.execution.streaming.state.StateStoreProvider
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.memory.{MemoryLimitException, StoreMemory}
import io.holdfast.store.OpenStores
import io.holdfast.testkit.{Provider, Put, StoreCalls, TestStore}

/** Spark's reader of join state makes two providers, and when the second one cannot load it forgets the
  * first and does not close it.
  */
class DroppedProviderSuite extends AnyFunSuite {

  test("a provider that was dropped and never closed holds and counts nothing any more") {
    TestStore.use() { store =>
      store.commit(0, (0 until 5000).map(n => Put(s"a $n", n.toLong, "n" * 100)): _*)
      val heldBefore = StoreMemory.heldInThisJvm
      val openBefore = OpenStores.all.size
      loadAndDrop(store.settings, store.root)
      assert(StoreMemory.heldInThisJvm > heldBefore)
      var collections = 0
      while (StoreMemory.heldInThisJvm > heldBefore && collections < 100) {
        System.gc()
        collections += 1
      }
      assert(StoreMemory.heldInThisJvm === heldBefore)
      assert(OpenStores.all.size === openBefore)
      assert(store.counts(1).size === 5000)
    }
  }

  test("a batch has the room of a provider that was dropped") {
    val limited = Provider().set("spark.sql.streaming.stateStore.holdfast.memoryLimit" -> "16m")
    // They need most of the limit.
    val rows = (0 until 50000).map(n => Put(s"a $n", n.toLong, "n" * 100))
    TestStore.use(limited) { store =>
      store.commit(0, rows: _*)
      store.reopen()
      var loaded = load(limited, store.root)
      TestStore.use(limited) { other =>
        intercept[MemoryLimitException](other.commit(0, rows: _*))
        Reference.reachabilityFence(loaded)
        loaded = null
        var collections = 0
        def commits: Boolean = Try(other.commit(0, rows: _*)).isSuccess
        while (!commits && collections < 100) {
          System.gc()
          collections += 1
        }
        assert(other.counts(1).size === 50000)
      }
    }
  }

  // In a frame of its own, which is gone then.
  private def loadAndDrop(settings: Provider, root: Path): Unit = {
    val _ = load(settings, root)
  }

  private def load(settings: Provider, root: Path): StateStoreProvider = {
    val provider = settings.open(root)
    StoreCalls.end(StoreCalls.read(provider, 1))
    provider
  }
}
