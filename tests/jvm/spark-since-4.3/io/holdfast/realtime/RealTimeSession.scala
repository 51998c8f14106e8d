package io.holdfast.realtime

import java.nio.file.Path

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.query.QuerySession
import io.holdfast.{HoldfastCheckpointFileManager, HoldfastExtensions}

/** Sessions whose queries may run in real-time mode: all tasks of a batch run at the same time, so there
  * are as many threads as that takes.
  */
object RealTimeSession {

  val Switch = "spark.sql.streaming.stateStore.holdfast.realTimeMode"

  val ProviderClass: String = SQLConf.STATE_STORE_PROVIDER_CLASS.key

  val RocksDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  val FormatVersion: String = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key

  val AllowlistCheck: String = SQLConf.STREAMING_REAL_TIME_MODE_ALLOWLIST_CHECK.key

  /** How long a batch lasts, where no longer one is asked for, in milliseconds. */
  val BatchMillis = 400L

  def start(settings: (String, String)*): SparkSession = SparkSession
    .builder()
    .master("local[12]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.extensions", classOf[HoldfastExtensions].getName)
    .config(Switch, "true")
    .config(SQLConf.STREAMING_REAL_TIME_MODE_MIN_BATCH_DURATION.key, BatchMillis)
    .config(SQLConf.SHUFFLE_PARTITIONS.key, QuerySession.Partitions)
    .config(SQLConf.SESSION_LOCAL_TIMEZONE.key, "UTC")
    .config(
      SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key,
      classOf[HoldfastCheckpointFileManager].getName)
    .config(settings.toMap)
    .getOrCreate()

  /** The versions of which both partitions of a query's first operator have a file. */
  def versions(checkpoint: Path): Seq[Long] =
    stateFiles(checkpoint)
      .map(_.takeWhile(_.isDigit).toLong)
      .groupBy(identity)
      .collect { case (version, files) if files.size >= QuerySession.Partitions => version }
      .toSeq
      .sorted

  /** Names of the state files of a query's first operator. */
  def stateFiles(checkpoint: Path): Seq[String] =
    (0 until QuerySession.Partitions)
      .flatMap { partition =>
        val folder = checkpoint.resolve("state").resolve("0").resolve(partition.toString).toFile
        folder.list().toSeq.filter(name => name.contains("_") && !name.startsWith("."))
      }
      .filterNot(_.startsWith("_"))

  /** What the newest batch of a checkpoint says of a setting. */
  def bound(checkpoint: Path, setting: String): Option[String] = {
    val offsets = checkpoint.resolve("offsets")
    val newest = offsets.toFile.list().filter(_.forall(_.isDigit)).map(_.toLong).max
    val text = java.nio.file.Files.readAllLines(offsets.resolve(newest.toString)).asScala.mkString
    s""""$setting":"([^"]*)"""".r.findFirstMatchIn(text).map(_.group(1))
  }
}
