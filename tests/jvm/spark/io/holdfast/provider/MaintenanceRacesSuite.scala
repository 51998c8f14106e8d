package io.holdfast.provider

import java.util.concurrent.CyclicBarrier

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{
  Background,
  FileOperation,
  Gate,
  Provider,
  Put,
  Remove,
  SeededTests,
  TestStore
}

/** Maintenance beside tasks: neither waits for the other, and neither sees the other's half. */
class MaintenanceRacesSuite extends AnyFunSuite with SeededTests {

  private val settings = Provider().minDeltas(2).retained(2).inMemory(2)

  /** Runs `body` while maintenance stands still at a file operation, and waits for its end. */
  private def during[A](kind: FileOperation.Kind, file: String)(
      prepare: TestStore => Any,
      body: TestStore => Any)(after: TestStore => A): A = {
    val gate = new Gate(kind, file)
    TestStore.use(settings.watched(gate)) { store =>
      prepare(store)
      val maintenance = new Background(store.provider.doMaintenance())
      gate.awaitArrival()
      body(store)
      gate.open()
      maintenance.result()
      after(store)
    }
  }

  private def threeVersions(store: TestStore): Unit =
    (0L until 3L).foreach(version => store.commit(version, Put("a", version), Put(s"k$version", 1)))

  private val three = Map("a" -> 2L, "k0" -> 1L, "k1" -> 1L, "k2" -> 1L)

  test("batches commit while a snapshot is being written, which holds its own version") {
    during(FileOperation.Finish, "3.snapshot")(
      threeVersions,
      store => {
        store.commit(3, Remove("a"))
        store.commit(4, Put("a", 9))
      }) { store =>
      store.delete("3.delta")
      store.reopen()
      assert(store.counts(3) == three)
      assert(store.counts(5) == three.updated("a", 9L))
    }
  }

  test("a task reads and writes while old files are being deleted") {
    during(FileOperation.Delete, "1.delta")(
      store => {
        threeVersions(store)
        store.provider.doMaintenance()
        (3L until 6L).foreach(version => store.commit(version, Put("a", version)))
        store.provider.doMaintenance()
        (6L until 9L).foreach(version => store.commit(version, Put("a", version)))
      },
      store => {
        assert(store.counts(9) == three.updated("a", 8L))
        store.commit(9, Put("a", 10))
      }) { store =>
      store.reopen()
      assert(store.counts(10) == three.updated("a", 10L))
    }
  }

  test("a provider is closed while its maintenance writes a snapshot") {
    during(FileOperation.Write, "3.snapshot")(threeVersions, _.close()) { store =>
      store.reopen()
      assert(store.counts(3) == three)
    }
  }

  seeded("tasks, readers and maintenance run at once, and every version is what its batch made") {
    random =>
      TestStore.use(settings) { store =>
        val batches = Seq.fill(150)(Put(s"k${random.nextInt(5)}", random.nextLong()))
        val states = batches.scanLeft(Map.empty[String, Long])((rows, put) =>
          rows.updated(put.name, put.count))
        val start = new CyclicBarrier(3)

        val writer = new Background({
          start.await()
          batches.zipWithIndex.foreach { case (put, version) => store.commit(version, put) }
        })
        val maintenance = new Background({
          start.await()
          (1 to 100).foreach(_ => store.provider.doMaintenance())
        })
        start.await()
        (1 to 200).foreach { _ =>
          val newest = newestInMemory(store)
          assert(store.counts(newest) == states(newest.toInt))
        }
        writer.result()
        maintenance.result()

        store.provider.doMaintenance()
        val last = batches.size.toLong
        store.reopen()
        (last - 2 to last).foreach { version =>
          assert(store.counts(version) == states(version.toInt))
        }
      }
  }

  private def newestInMemory(store: TestStore): Long = store.provider match {
    case holdfast: io.holdfast.HoldfastStateStoreProvider =>
      holdfast.store.inMemory.latest.fold(0L)(_._1.number)
    case other => fail(s"$other is not Holdfast's")
  }
}
