package io.holdfast.snapshots

import org.apache.spark.unsafe.Platform
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{LoggedWarnings, Provider, Put, TestRows, TestStore}

/** A row that is damaged in memory gets into no snapshot, and no file is deleted that has it right. */
class DamagedRowSuite extends AnyFunSuite {

  private val settings = Provider().rowChecksums(true).minDeltas(2).retained(1)

  private def flipBit(store: TestStore, version: Long): Unit = {
    val row = store.read(version).get(TestRows.key("a"))
    val place = row.getBaseOffset + row.getSizeInBytes - 1
    val byte = Platform.getByte(row.getBaseObject, place)
    Platform.putByte(row.getBaseObject, place, (byte ^ 1).toByte)
  }

  private def threeVersions(store: TestStore): Unit = {
    store.commit(0, Put("a", 1))
    store.commit(1, Put("b", 2))
    store.commit(2, Put("c", 3))
    flipBit(store, 3)
  }

  private val right = Map("a" -> 1L, "b" -> 2L, "c" -> 3L)

  test("maintenance gives the snapshot up and keeps the files") {
    TestStore.use(settings) { store =>
      threeVersions(store)
      val said =
        LoggedWarnings.of(classOf[SnapshotMaintenance])(store.provider.doMaintenance())
      assert(said.exists(_.contains("could not write a snapshot")))
      store.commit(3, Put("d", 4))
      store.provider.doMaintenance()
      assert(
        store.files.keySet == Set("1.delta", "2.delta", "3.delta", "4.delta"),
        "- nothing else, also no temporary file")
      store.reopen()
      assert(store.counts(3) == right)
      assert(store.counts(4) == right.updated("d", 4L))
    }
  }

  test("a snapshot that Spark asks for is given up, and the batch is not") {
    TestStore.use(settings.minDeltas(1000)) { store =>
      threeVersions(store)
      store.commitWithSnapshot(3, Put("d", 4))
      assert(!store.fileNames.exists(_.endsWith(".snapshot")))
      store.reopen()
      assert(store.counts(4) == right.updated("d", 4L))
    }
  }
}
