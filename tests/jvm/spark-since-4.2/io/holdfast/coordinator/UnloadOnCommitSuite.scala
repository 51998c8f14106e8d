package io.holdfast.coordinator

import org.apache.spark.sql.internal.SQLConf

import io.holdfast.CoordinatedStores

/** Stores that leave when their task ends (`spark.sql.streaming.stateStore.unloadOnCommit`). The query
  * that has them is in `UnloadOnCommitQuerySuite`.
  */
class UnloadOnCommitSuite extends CoordinatedStores {

  override protected def settings: Map[String, Any] =
    Map(SQLConf.STATE_STORE_UNLOAD_ON_COMMIT.key -> true)

  test("the coordinator does not learn of a store that will not stay") { stores =>
    stores.commit(0, "a" -> 1)
    assert(stores.coordinator.locationOf(stores.id).isEmpty)
    assert(stores.content(1) == Map("a" -> 1))
  }
}
