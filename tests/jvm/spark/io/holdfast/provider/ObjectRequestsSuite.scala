package io.holdfast.provider

import org.apache.spark.sql.execution.streaming.state.{StateStoreId, StateStoreProvider}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit._

/** What a store asks of an object store, beside Spark's default provider. `./dev objects --count`
  * counts the requests that come of it on `s3a`, with those of the whole query.
  */
class ObjectRequestsSuite extends AnyFunSuite {
  import ObjectRequestsSuite._

  private val holdfast = requests(Provider.Holdfast)
  private val spark = requests(Provider.Spark)

  test("a batch writes its delta and asks for nothing else") {
    assert(holdfast.batch == Map("put" -> 1))
    assert(spark.batch.values.sum > 1)
  }

  test("a store that is loaded lists its folder and reads each file") {
    assert(holdfast.load == Map("list" -> 1L, "get" -> Deltas.toLong))
    assert(spark.load.values.sum > holdfast.load.values.sum)
  }

  test(
    "maintenance lists the folder twice and reads the delta for a snapshot; to clean up it lists once " +
      "and asks for the snapshot that stays") {
    val deleted = holdfast.maintenance.getOrElse("delete", 0L)
    assert(deleted > 0)
    val reads = Map("list" -> 3L, "status" -> 2L, "get" -> 1L)
    assert(holdfast.maintenance == reads ++ Map("put" -> 1L, "delete" -> deleted))
    assert(holdfast.rest == Map.empty)
    assert(spark.rest.values.sum > 0)
  }
}

object ObjectRequestsSuite {
  private val Deltas = 8

  /** @param rest
    *   of maintenance when nothing has happened since the last one
    */
  final private case class Requests(
      batch: Map[String, Long],
      load: Map[String, Long],
      maintenance: Map[String, Long],
      rest: Map[String, Long])

  private def requests(className: String): Requests = {
    val settings = Provider(className, fileManager = "").minDeltas(Deltas).retained(2)
    val store = ObjectFileSystem.store(className)
    val id = StateStoreId(store.path("state").toString, 0L, 0)
    val first = settings.open(id)
    commit(first, 0L to Deltas - 2)
    store.takeRequests()
    commit(first, Deltas - 1L to Deltas - 1)
    val batch = store.takeRequests()
    first.close()

    store.takeRequests()
    val second = settings.open(id)
    StoreCalls.end(StoreCalls.read(second, Deltas.toLong))
    val load = store.takeRequests()
    // Two snapshots, so that there are files before the first that nothing needs.
    commit(second, Deltas.toLong to Deltas + 4)
    second.doMaintenance()
    commit(second, Deltas + 5L to 2 * Deltas + 8)
    second.doMaintenance()
    commit(second, 2 * Deltas + 9L to 3 * Deltas + 12)
    store.takeRequests()
    second.doMaintenance()
    val maintenance = store.takeRequests()
    second.doMaintenance()
    val rest = store.takeRequests()
    second.close()
    Requests(batch, load, maintenance, rest)
  }

  private def commit(provider: StateStoreProvider, versions: Seq[Long]): Unit =
    versions.foreach { version =>
      val store = StoreCalls.write(provider, version, forceSnapshot = false)
      Put(s"key ${version % 3}", version).applyTo(store)
      store.commit()
    }
}
