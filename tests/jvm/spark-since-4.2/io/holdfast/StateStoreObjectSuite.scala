package io.holdfast

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.holdfast.store.{HoldfastReadStateStore, HoldfastStateStore}

/** Stores as stateful operators get them: from Spark's `StateStore` object, which makes, keeps and
  * unloads the provider.
  */
class StateStoreObjectSuite extends CoordinatedStores {

  test(
    "the provider class in the settings is Holdfast's, and its stores are what Spark hands out") {
    stores =>
      assert(stores.write(0).isInstanceOf[HoldfastStateStore])
      assert(stores.read(0).isInstanceOf[HoldfastReadStateStore])
  }

  test("a version below zero and a version that was never committed are refused") { stores =>
    def condition(version: Long): String =
      intercept[Exception with SparkThrowable](stores.write(version)).getCondition

    assert(condition(-1) == "CANNOT_LOAD_STATE_STORE.UNEXPECTED_VERSION")
    assert(condition(1) == "CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE")
  }

  test("older versions can be opened after newer ones are committed") { stores =>
    stores.commit(0, "a" -> 1)
    stores.commit(1, "a" -> 2, "b" -> 3)

    assert(stores.content(0) == Map.empty)
    assert(stores.content(1) == Map("a" -> 1))
    assert(stores.content(2) == Map("a" -> 2, "b" -> 3))
  }

  test("an unloaded provider comes back with its state") { stores =>
    stores.commit(0, "a" -> 1)
    assert(StateStore.isLoaded(stores.id))

    StateStore.removeFromLoadedProvidersAndClose(stores.id)
    assert(!StateStore.isLoaded(stores.id))

    assert(stores.content(1) == Map("a" -> 1))
    stores.commit(1, "b" -> 2)
    assert(stores.content(2) == Map("a" -> 1, "b" -> 2))
  }

  test("a task reads from one store and writes to another of the same version") { stores =>
    stores.commit(0, "a" -> 1)
    val restored = stores.read(1)
    val saved = stores.write(1)

    stores.put(saved, "a", stores.get(restored, "a").get + 1)
    assert(stores.get(restored, "a").contains(1))
    assert(saved.commit() == 2)
    restored.release()

    assert(stores.content(2) == Map("a" -> 2))
  }

  test("a read store becomes the write store of its version") { stores =>
    stores.commit(0, "a" -> 1)
    val upgraded = stores.upgrade(stores.read(1), 1)

    assert(stores.get(upgraded, "a").contains(1))
    stores.put(upgraded, "a", 2)
    assert(upgraded.commit() == 2)

    assert(stores.content(2) == Map("a" -> 2))
  }
}
