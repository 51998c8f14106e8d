package io.holdfast.provider

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.memory.StoreMemory
import io.holdfast.store.OpenStores
import io.holdfast.testkit.{Provider, Put, TestStore}

/** Spark's reader of join state makes two providers, and when the second one cannot load it forgets the
  * first and does not close it.
  */
class DroppedProviderSuite extends AnyFunSuite {

  test("a provider that was dropped and never closed holds and counts nothing any more") {
    TestStore.use() { store =>
      store.commit(0, (0 until 5000).map(n => Put(s"a $n", n.toLong, "n" * 100)): _*)
      val heldBefore = StoreMemory.heldInThisJvm
      val openBefore = OpenStores.all.size
      dropLoaded(store.settings, store.root)
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

  private def dropLoaded(settings: Provider, root: Path): Unit =
    settings.open(root).getReadStore(1, None).release()
}
