package io.holdfast.provider

import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  SupportsFineGrainedReplay
}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, Remove, TestRows, TestStore}

/** What the `statestore` source asks for: a version from a snapshot of choice, and changes. */
class ReplaySuite extends AnyFunSuite {

  /** Six versions, with snapshots of the second and the fourth. */
  private def use[A](settings: Provider = Provider())(body: TestStore => A): A =
    TestStore.use(settings) { store =>
      store.commit(0, Put("a", 1), Put("b", 1))
      store.commitWithSnapshot(1, Put("a", 2), Remove("b"))
      store.commit(2, Put("c", 3))
      store.commitWithSnapshot(3, Remove("a"))
      store.commit(4)
      store.commit(5, Put("d", 6), Put("c", 6))
      store.reopen()
      body(store)
    }

  private def replay(store: TestStore): SupportsFineGrainedReplay = store.provider match {
    case provider: SupportsFineGrainedReplay => provider
    case other => fail(s"$other does not replay")
  }

  private def readFrom(store: TestStore, snapshot: Long, version: Long): ReadStateStore =
    replay(store).replayReadStateFromSnapshot(snapshot, version, None, None)

  private def writeFrom(store: TestStore, snapshot: Long, version: Long): StateStore =
    replay(store).replayStateFromSnapshot(snapshot, version, false, None, None)

  private val version6 = Map("c" -> 6L, "d" -> 6L)

  test("a version is the same from whichever snapshot it is replayed") {
    use() { store =>
      assert(TestRows.counts(readFrom(store, 2, 6)) == version6)
      assert(TestRows.counts(readFrom(store, 4, 6)) == version6)
      assert(TestRows.counts(readFrom(store, 2, 3)) == Map("a" -> 2L, "c" -> 3L))
      assert(TestRows.counts(readFrom(store, 2, 2)) == Map("a" -> 2L))
    }
  }

  test("the snapshot that was asked for is the one that is read") {
    use() { store =>
      store.delete("3.delta")
      assert(TestRows.counts(readFrom(store, 4, 6)) == version6)
      intercept[Exception](readFrom(store, 2, 6))
    }
  }

  test("a replayed store can be written to, and commits the next version") {
    use() { store =>
      val open = writeFrom(store, 4, 5)
      assert(open.version == 5)
      Put("again", 7).applyTo(open)
      assert(open.commit() == 6)
      assert(store.counts(6) == Map("c" -> 3L, "again" -> 7L))
    }
  }

  test("a replayed version does not take the place of the one in memory") {
    use() { store =>
      assert(store.counts(6) == version6)
      assert(TestRows.counts(readFrom(store, 2, 3)) == Map("a" -> 2L, "c" -> 3L))
      assert(store.counts(6) == version6)
    }
  }

  for (rowChecksums <- Seq(false, true)) {
    test(s"the change reader tells what each version changed, row checksums $rowChecksums") {
      val settings = Provider().rowChecksums(rowChecksums)

      def changes(className: String): Seq[(String, String, Option[Long], Long)] = {
        var found = Seq.empty[(String, String, Option[Long], Long)]
        use(settings) { written =>
          val store = new TestStore(settings.by(className), written.root)
          val reader = replay(store).getStateStoreChangeDataReader(2, 6, None, None)
          try {
            found = reader.map { case (kind, key, value, batch) =>
              (kind.toString, TestRows.nameOf(key), Option(value).map(_.getLong(0)), batch)
            }.toList
          } finally {
            reader.closeIfNeeded()
            store.close()
          }
        }
        found.sortBy { case (kind, name, _, batch) => (batch, name, kind) }
      }

      assert(changes(Provider.Holdfast) == changes(Provider.Spark))
      assert(
        changes(Provider.Holdfast) == Seq(
          ("put_record", "a", Some(2L), 1L),
          ("delete_record", "b", None, 1L),
          ("put_record", "c", Some(3L), 2L),
          ("delete_record", "a", None, 3L),
          ("put_record", "c", Some(6L), 5L),
          ("put_record", "d", Some(6L), 5L)))
    }
  }
}
