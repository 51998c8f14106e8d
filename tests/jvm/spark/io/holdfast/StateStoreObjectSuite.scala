package io.holdfast

import java.nio.file.Files
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.{SparkConf, SparkContext, SparkEnv, SparkThrowable}
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{
  NoPrefixKeyStateEncoderSpec,
  ReadStateStore,
  StateStore,
  StateStoreConf,
  StateStoreCoordinatorRef,
  StateStoreId,
  StateStoreProviderId
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{IntegerType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.Outcome
import org.scalatest.funsuite.FixtureAnyFunSuite

/** Stores as stateful operators get them: from Spark's `StateStore` object, which makes, keeps and
  * unloads the provider.
  */
class StateStoreObjectSuite extends FixtureAnyFunSuite {

  override protected type FixtureParam = StateStoreObjectSuite.Stores

  override protected def withFixture(test: OneArgTest): Outcome = {
    StateStore.stop()
    val spark = new SparkContext(new SparkConf().setMaster("local").setAppName(test.name))
    try {
      StateStoreCoordinatorRef.forDriver(SparkEnv.get, new SQLConf)
      withFixture(test.toNoArgTest(new StateStoreObjectSuite.Stores))
    } finally {
      StateStore.stop()
      spark.stop()
    }
  }

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

object StateStoreObjectSuite {

  /** The versions of one store in a folder of its own: names and their counts. */
  final class Stores {
    private val keySchema = new StructType().add("name", StringType)
    private val valueSchema = new StructType().add("count", IntegerType)
    private val keyOf = UnsafeProjection.create(keySchema)
    private val valueOf = UnsafeProjection.create(valueSchema)
    private val hadoopConf = new Configuration
    private val storeConf = {
      val settings = new SQLConf
      settings
        .setConf(SQLConf.STATE_STORE_PROVIDER_CLASS, classOf[HoldfastStateStoreProvider].getName)
      new StateStoreConf(settings)
    }

    val id: StateStoreProviderId = StateStoreProviderId(
      StateStoreId(Files.createTempDirectory("state").toString, 0L, 0),
      UUID.randomUUID)

    def write(version: Long): StateStore =
      StateStore.get(
        id,
        keySchema,
        valueSchema,
        NoPrefixKeyStateEncoderSpec(keySchema),
        version,
        stateStoreCkptId = None,
        stateSchemaBroadcast = None,
        useColumnFamilies = false,
        storeConf,
        hadoopConf)

    def read(version: Long): ReadStateStore =
      StateStore.getReadOnly(
        id,
        keySchema,
        valueSchema,
        NoPrefixKeyStateEncoderSpec(keySchema),
        version,
        stateStoreCkptId = None,
        stateSchemaBroadcast = None,
        useColumnFamilies = false,
        storeConf,
        hadoopConf)

    def upgrade(readStore: ReadStateStore, version: Long): StateStore =
      StateStore.getWriteStore(
        readStore,
        id,
        keySchema,
        valueSchema,
        NoPrefixKeyStateEncoderSpec(keySchema),
        version,
        stateStoreCkptId = None,
        stateSchemaBroadcast = None,
        useColumnFamilies = false,
        storeConf,
        hadoopConf)

    def commit(version: Long, changes: (String, Int)*): Unit = {
      val store = write(version)
      changes.foreach { case (name, count) => put(store, name, count) }
      assert(store.commit() == version + 1)
    }

    def content(version: Long): Map[String, Int] = {
      val store = read(version)
      try store.iterator().map(row => row.key.getString(0) -> row.value.getInt(0)).toMap
      finally store.release()
    }

    def put(store: StateStore, name: String, count: Int): Unit =
      store.put(key(name), valueOf(new GenericInternalRow(Array[Any](count))))

    def get(store: ReadStateStore, name: String): Option[Int] =
      Option(store.get(key(name))).map(_.getInt(0))

    private def key(name: String): UnsafeRow =
      keyOf(new GenericInternalRow(Array[Any](UTF8String.fromString(name))))
  }
}
