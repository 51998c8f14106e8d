package io.holdfast.scans

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{CustomMetrics, Provider, SeededTests, StoreCalls, TemporaryFolder}

/** Prefix scans: the same random operations on Spark's default provider beside Holdfast, versions
  * reopened from each other's files.
  */
class PrefixScanSuite extends AnyFunSuite with SeededTests {

  private val schema = StructType(
    Seq(
      StructField("user", StringType),
      StructField("kind", IntegerType),
      StructField("start", LongType)))
  private val valueSchema = StructType(Seq(StructField("number", LongType)))
  private val prefixColumns = 2
  private val projectKey = UnsafeProjection.create(schema)
  private val projectPrefix = UnsafeProjection.create(StructType(schema.take(prefixColumns)))
  private val projectValue = UnsafeProjection.create(valueSchema)

  private val holdfast = Provider(keySchema = schema, valueSchema = valueSchema)
    .minDeltas(2)
    .copy(prefixColumns = Some(prefixColumns))

  private def columns(user: Int, kind: Int): Seq[Any] =
    Seq(if (user == 0) null else UTF8String.fromString("u" * user), if (kind == 0) null else kind)

  private def key(user: Int, kind: Int, start: Long): UnsafeRow =
    projectKey(new GenericInternalRow((columns(user, kind) :+ start).toArray))

  private def prefix(user: Int, kind: Int): UnsafeRow =
    projectPrefix(new GenericInternalRow(columns(user, kind).toArray))

  private def value(number: Long): UnsafeRow =
    projectValue(new GenericInternalRow(Array[Any](number)))

  private def scan(store: StateStore, user: Int, kind: Int): Set[(Seq[Byte], Long)] =
    store
      .prefixScan(prefix(user, kind))
      .map { pair =>
        pair.key.getBytes.toSeq -> pair.value.getLong(0)
      }
      .toSet

  test("a scan is counted as one, and not as a walk over all rows") {
    TemporaryFolder.use { root =>
      val provider = holdfast.open(root)
      val store = StoreCalls.write(provider, 0, forceSnapshot = false)
      store.put(key(1, 1, 1L), value(1L))
      assert(scan(store, 1, 1).size == 1 && scan(store, 2, 1).isEmpty)
      assert(CustomMetrics(store, "holdfastScanCount") == 2)
      assert(CustomMetrics(store, "holdfastIteratorCount") == 0)
      store.abort()
      provider.close()
    }
  }

  private def change(random: Random, stores: Seq[StateStore]): Unit = {
    val row = key(random.nextInt(4), random.nextInt(3), random.nextInt(30).toLong)
    if (random.nextInt(3) == 0) stores.foreach(_.remove(row))
    else {
      val number = random.nextLong()
      stores.foreach(_.put(row, value(number)))
    }
  }

  private def compareAll(stores: Seq[StateStore]): Unit =
    for {
      user <- 0 to 4
      kind <- 0 to 3
    } assert(stores.map(scan(_, user, kind)).distinct.size === 1, s"prefix ($user, $kind) differs")

  seeded("prefix scans agree with Spark's default provider, each on the other's files") { random =>
    TemporaryFolder.use { root =>
      val folders = Seq("one", "other").map(root.resolve)
      var classes = Seq(Provider.Holdfast, Provider.Spark)
      (0L until 12L).foreach { version =>
        // Every version is loaded by the provider that did not write the one before.
        val providers: Seq[StateStoreProvider] = classes.zip(folders).map {
          case (className, folder) => holdfast.by(className).open(folder)
        }
        try {
          val stores = providers.map(StoreCalls.write(_, version, forceSnapshot = false))
          compareAll(stores)
          (1 to 80).foreach(_ => change(random, stores))
          compareAll(stores)
          stores.foreach(_.commit())
          providers.foreach(_.doMaintenance())
        } finally providers.foreach(_.close())
        classes = classes.reverse
      }
    }
  }

  test("a prefix scan is not disturbed by removing what it shows") {
    TemporaryFolder.use { root =>
      val provider = holdfast.open(root)
      val store = StoreCalls.write(provider, 0, forceSnapshot = false)
      (0 until 500).foreach(start => store.put(key(1, 1, start.toLong), value(start.toLong)))
      var seen = 0
      store.prefixScan(prefix(1, 1)).foreach { pair =>
        store.remove(pair.key)
        seen += 1
      }
      assert(seen === 500)
      assert(store.iterator().isEmpty)
      store.abort()
      provider.close()
    }
  }
}
