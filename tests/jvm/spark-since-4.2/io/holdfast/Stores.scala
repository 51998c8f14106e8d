package io.holdfast

import java.nio.file.{Files, Path}
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.StreamExecution
import org.apache.spark.sql.execution.streaming.state.holdfast.Coordinator
import org.apache.spark.sql.execution.streaming.state.{
  NoPrefixKeyStateEncoderSpec,
  ReadStateStore,
  StateStore,
  StateStoreConf,
  StateStoreId,
  StateStoreProviderId
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{IntegerType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import io.holdfast.store.OpenStores

/** The versions of one store, names and their counts, by way of Spark's `StateStore` object.
  *
  * @param root
  *   the folder of the checkpoint's state
  */
final class Stores(
    conf: SQLConf,
    val coordinator: Coordinator,
    root: Path = Files.createTempDirectory("state")) {
  private val keySchema = new StructType().add("name", StringType)
  private val valueSchema = new StructType().add("count", IntegerType)
  private val keyOf = UnsafeProjection.create(keySchema)
  private val valueOf = UnsafeProjection.create(valueSchema)
  private val storeConf = new StateStoreConf(conf)

  val id: StateStoreProviderId =
    StateStoreProviderId(StateStoreId(root.toString, 0L, 0), UUID.randomUUID)

  private val hadoopConf = {
    val hadoop = new Configuration
    hadoop.set(StreamExecution.RUN_ID_KEY, id.queryRunId.toString)
    hadoop
  }

  /** The folder of the state files. */
  val folder: Path = root.resolve("0").resolve("0")

  /** The same store in another run of the query. */
  def inAnotherRun(): Stores = new Stores(conf, coordinator, root)

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

  /** Returns when the snapshots that commits asked for are written, which they are beside them. */
  def awaitSnapshots(): Unit = OpenStores.all.foreach(_.requested.awaitIdle())

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
