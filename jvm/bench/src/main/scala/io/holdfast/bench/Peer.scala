package io.holdfast.bench

import java.nio.file.{Files, Path}
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state.{
  StateStoreConf,
  StateStoreId,
  StateStoreProvider
}
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.{HoldfastCheckpointFileManager, HoldfastStateStoreProvider}

/** A state store provider under measurement, by the name that parameters and tables give it. */
final case class Peer(name: String, providerClass: String, settings: Map[String, String]) {

  def set(entries: (String, String)*): Peer = copy(settings = settings ++ entries)

  /** Deletes no files, so that what lies in the folder is all that was written. */
  def keepingAllFiles: Peer = set(
    "spark.sql.streaming.minBatchesToRetain" -> s"${Int.MaxValue / 2}")

  /** Writes a snapshot whenever maintenance runs, or never. */
  def snapshotting(always: Boolean): Peer = set(
    "spark.sql.streaming.stateStore.minDeltasForSnapshot" ->
      (if (always) "0" else s"${Int.MaxValue / 2}"))

  /** A provider of its own for one partition of a checkpoint below `folder`.
    *
    * @param rows
    *   those of the column family that every store has
    * @param hasFamilies
    *   whether there are others
    */
  def open(folder: Path, rows: RowKind, hasFamilies: Boolean = false): StateStoreProvider = {
    val conf = new SQLConf
    conf.setConfString(SQLConf.STATE_STORE_PROVIDER_CLASS.key, providerClass)
    settings.foreach { case (key, value) => conf.setConfString(key, value) }
    val hadoopConf = new Configuration
    hadoopConf.set("sql.streaming.runId", UUID.randomUUID().toString)
    hadoopConf.set(SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key, Peer.FileManager)
    val provider = StateStoreProvider.create(providerClass)
    provider.init(
      StateStoreId(folder.resolve("state").toString, 0L, 0),
      rows.keySchema,
      rows.valueSchema,
      rows.encoder,
      useColumnFamilies = hasFamilies,
      new StateStoreConf(conf),
      hadoopConf)
    provider
  }
}

object Peer {

  // Spark's default file manager starts some ten processes for each file on a local path, which
  // would drown every store alike.
  val FileManager: String = classOf[HoldfastCheckpointFileManager].getName

  // Spark's own providers are private to its packages, so they go by name.
  private val SparkStores = "org.apache.spark.sql.execution.streaming.state"

  private val rocksDB = Peer(
    "rocksdb",
    s"$SparkStores.RocksDBStateStoreProvider",
    Map(
      "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> "true",
      "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows" -> "false"))

  // Joins whose rows are in column families, one of them in the order of time. Format 2 is Spark's
  // default.
  private val rocksDBJoinFormat4 = rocksDB
    .copy(name = "rocksdb-join-4")
    .set(
      "spark.sql.streaming.join.stateFormatVersion" -> "4",
      "spark.sql.streaming.join.stateFormatV4.enabled" -> "true")

  val all: Seq[Peer] = Seq(
    Peer("holdfast", classOf[HoldfastStateStoreProvider].getName, Map.empty),
    Peer("hdfs", s"$SparkStores.HDFSBackedStateStoreProvider", Map.empty),
    rocksDB,
    rocksDBJoinFormat4,
    Peer("rocksdb-defaults", s"$SparkStores.RocksDBStateStoreProvider", Map.empty),
    Peer("floor", classOf[FloorStateStoreProvider].getName, Map.empty))

  def named(name: String): Peer = all.find(_.name == name).getOrElse {
    throw new IllegalArgumentException(
      s"no provider is named $name; there are ${all.map(_.name).mkString(", ")}")
  }

  /** A folder in memory where the system has one, so that the store is measured and not the disk. */
  def workFolder(): Path = {
    val memory = Path.of("/dev/shm")
    if (Files.isWritable(memory)) Files.createTempDirectory(memory, "holdfast-bench")
    else Files.createTempDirectory("holdfast-bench")
  }
}
