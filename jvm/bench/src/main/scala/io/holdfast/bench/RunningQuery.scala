package io.holdfast.bench

import java.nio.file.Path
import java.sql.Timestamp

import org.apache.hadoop.fs.FileUtil
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{
  GroupState,
  GroupStateTimeout,
  OutputMode,
  StreamingQuery,
  StreamingQueryProgress
}
import org.apache.spark.sql.{DataFrame, Encoder, Encoders, SparkSession}

import io.holdfast.HoldfastExtensions

/** A query on a provider, with a state of a size: one batch after another, as the caller asks. */
final class RunningQuery(
    spark: SparkSession,
    peer: Peer,
    query: String,
    rows: Long,
    changes: Long,
    folder: Path) {
  import RunningQuery._

  private val input = new Input(spark, rows)
  private val running = {
    val settings = peer.settings + (SQLConf.STATE_STORE_PROVIDER_CLASS.key -> peer.providerClass)
    settings.foreach { case (name, value) => spark.conf.set(name, value) }
    try start(query, input, folder)
    finally settings.keys.foreach(spark.conf.unset)
  }

  /** Makes the state grow to its size. */
  def load(): Unit = (0L until rows by LoadedAtOnce).foreach { from =>
    input.load(from, math.min(rows, from + LoadedAtOnce))
    running.processAllAvailable()
  }

  /** Runs a batch of ids that are new, the n-th of batches of this size. */
  def grow(batch: Int, count: Long): Unit = {
    input.load(batch * count, (batch + 1) * count)
    running.processAllAvailable()
  }

  /** Runs a batch and tells its progress. */
  def batch(): StreamingQueryProgress = {
    input.change(changes)
    running.processAllAvailable()
    running.recentProgress.filter(_.numInputRows > 0).last
  }
}

object RunningQuery {
  private val LoadedAtOnce = 500000L

  private val InUpdateMode = Set("aggregation", "windowsInUpdate")

  /** Does something with a session of two cores, and a folder that goes when it is done.
    *
    * Arguments: partitions.
    *
    * @param maintenance
    *   how often stores are maintained; Spark's coordinator takes a snapshot for late after ten times
    *   as long
    * @param fileManager
    *   class that writes the files of checkpoints; nothing for Spark's default
    */
  def inSession[A](
      arguments: Arguments,
      maintenance: String = "5s",
      fileManager: Option[String] = Some(Peer.FileManager))(body: (SparkSession, Path) => A): A = {
    val folder = Peer.workFolder()
    val spark = session(arguments, folder, maintenance, fileManager)
    try body(spark, folder)
    finally {
      spark.stop()
      val _ = FileUtil.fullyDelete(folder.toFile)
    }
  }

  private def session(
      arguments: Arguments,
      folder: Path,
      maintenance: String,
      fileManager: Option[String]): SparkSession = {
    val builder = SparkSession
      .builder()
      .master("local[2]")
      .config("spark.sql.extensions", classOf[HoldfastExtensions].getName)
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", arguments.text("partitions"))
      .config("spark.sql.session.timeZone", "UTC")
      .config("spark.sql.streaming.stateStore.maintenanceInterval", maintenance)
      .config("spark.sql.streaming.noDataMicroBatches.enabled", "false")
      .config("spark.local.dir", folder.resolve("scratch").toString)
    fileManager.foreach(builder.config("spark.sql.streaming.checkpointFileManagerClass", _))
    val spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark
  }

  private def start(name: String, input: Input, folder: Path): StreamingQuery = {
    val result = name match {
      case "aggregation" =>
        input.updates.groupBy("key").agg(count("*"), sum("id"), max("id"))
      case "deduplication" =>
        input.events.dropDuplicatesWithinWatermark("id")
      case "deduplicationByTime" =>
        input.events.dropDuplicates("id", "time")
      case "windows" | "windowsInUpdate" =>
        input.events.groupBy(window(col("time"), "10 seconds"), col("id")).agg(count("*"))
      case "join" => input.joined("inner")
      case "outerJoin" => input.joined("left_outer")
      case "sessions" =>
        input.events.groupBy(session_window(col("time"), "10 seconds"), col("id")).count()
      case "timeouts" => input.timeouts
      case _ =>
        throw new IllegalArgumentException(
          s"no query is named $name; there are aggregation, deduplication, deduplicationByTime, " +
            "windows, windowsInUpdate, sessions, join, outerJoin, timeouts")
    }
    result.writeStream
      .format("noop")
      .outputMode(if (InUpdateMode(name)) "update" else "append")
      .option("checkpointLocation", folder.toString)
      .start()
  }
}

/** The input of the queries: a row of the stream names a range of ids, which tasks unfold, so that
  * the driver has nothing to do that grows with the batch.
  */
final private class Input(spark: SparkSession, rows: Long) {
  import Input._

  private implicit val ranges: Encoder[Ids] = Encoders.product
  private implicit val timed: Encoder[(Long, Timestamp)] = Encoders.product
  private implicit val numbers: Encoder[Long] = Encoders.scalaLong
  private val stream = MemoryStream[Ids](spark)
  private var next = rows

  /** Adds ids as they are. */
  def load(from: Long, until: Long): Unit = {
    stream.addData(Ids(from, until, scattered = false))
    ()
  }

  /** Adds as many ids again. */
  def change(count: Long): Unit = {
    stream.addData(Ids(next, next + count, scattered = true))
    next += count
  }

  private def ids: DataFrame = stream
    .toDF()
    .select(explode(expr("sequence(from, until - 1)")).as("id"), col("scattered"))

  /** Ids, each with the key of a random row that is there. */
  def updates: DataFrame =
    ids.select(
      col("id"),
      when(col("scattered"), pmod(xxhash64(col("id")), lit(rows))).otherwise(col("id")).as("key"))

  /** Ids, one a second; what is `rows` seconds old leaves the state. */
  def events: DataFrame =
    ids
      .select(col("id"), timestamp_seconds(col("id")).as("time"))
      .withWatermark("time", s"$rows seconds")

  /** The events joined with themselves, each with itself. */
  def joined(kind: String): DataFrame = events.join(
    events.toDF("rightId", "rightTime"),
    expr("id = rightId and time >= rightTime and time <= rightTime + interval 1 hour"),
    kind)

  /** Groups of one event each, which time out when the watermark is there. */
  def timeouts: DataFrame = events
    .as[(Long, Timestamp)]
    .groupByKey(_._1)
    .flatMapGroupsWithState(OutputMode.Append(), GroupStateTimeout.EventTimeTimeout)(untilItsTime _)
    .toDF()

  private def untilItsTime(
      id: Long,
      events: Iterator[(Long, Timestamp)],
      state: GroupState[Long]): Iterator[Long] =
    if (state.hasTimedOut) {
      state.remove()
      Iterator(id)
    } else {
      events.foreach { case (_, time) =>
        state.update(id)
        state.setTimeoutTimestamp(math.max(time.getTime, state.getCurrentWatermarkMs() + 1L))
      }
      Iterator.empty
    }
}

private object Input {
  final case class Ids(from: Long, until: Long, scattered: Boolean)
}
