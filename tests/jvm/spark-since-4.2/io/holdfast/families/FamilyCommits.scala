package io.holdfast.families

import org.apache.spark.sql.execution.streaming.state.StateStore

import io.holdfast.testkit.{Provider, TestRows, TestStore}

/** Stores with all families of [[FamilyKind]], and a key whose values change in them. */
trait FamilyCommits {
  protected val key = FamilyRows.key(1, 1L)

  protected def value(number: Long) = TestRows.value(number).copy()

  protected def use[A](settings: Provider = Provider())(body: TestStore => A): A =
    TestStore.use(settings.withFamilies)(body)

  /** Makes the next version of a store whose families are all there. */
  protected def commit(test: TestStore, version: Long, snapshot: Boolean = false)(
      change: StateStore => Any): Long = {
    val store = test.write(version, snapshot)
    FamilyKind.all.foreach(_.create(store))
    change(store)
    val next = store.commit()
    test.awaitSnapshots()
    next
  }
}
