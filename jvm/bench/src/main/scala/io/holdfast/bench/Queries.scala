package io.holdfast.bench

import java.nio.file.Path

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.FileUtil
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{
  StateOperatorProgress,
  StreamingQuery,
  StreamingQueryProgress
}
import org.apache.spark.sql.{DataFrame, Encoder, Encoders, SparkSession}

/** Micro-batches of real queries, as their progress tells: state of a size, then batches of constant
  * change on it.
  *
  * The same query runs beside it on a store that keeps nothing, a batch of one after a batch of the
  * other: what disturbs the machine for a while disturbs both, so that the share of a batch that is
  * the store's can be told from noise.
  *
  * Arguments: provider, query (aggregation, deduplication, join or sessions), rows, changes, batches,
  * partitions.
  */
object Queries {
  private val LoadedAtOnce = 500000L

  def measure(arguments: Arguments): Numbers = {
    val folder = Peer.workFolder()
    val spark = session(arguments, folder)
    try {
      val floor = new Running(spark, Peer.named("floor"), arguments, folder.resolve("floor"))
      val query = new Running(spark, arguments.peer, arguments, folder.resolve("query"))
      floor.load()
      query.load()
      def batches(): (StreamingQueryProgress, StreamingQueryProgress) =
        (floor.batch(), query.batch())
      Collections.settle()
      WarmUp(seconds = 30) {
        val _ = batches()
      }
      val collections = new Collections
      val (floors, progress) = (1 to arguments.int("batches")).map(_ => batches()).unzip
      numbers(floors, progress) ++ collections.numbers
    } finally {
      spark.stop()
      val _ = FileUtil.fullyDelete(folder.toFile)
    }
  }

  /** A query on a provider. */
  final private class Running(spark: SparkSession, peer: Peer, arguments: Arguments, folder: Path) {
    private val rows = arguments.long("rows")
    private val input = new Input(spark, rows)
    private val query = {
      val settings = peer.settings + (SQLConf.STATE_STORE_PROVIDER_CLASS.key -> peer.providerClass)
      settings.foreach { case (name, value) => spark.conf.set(name, value) }
      try start(arguments.text("query"), input, folder)
      finally settings.keys.foreach(spark.conf.unset)
    }

    def load(): Unit = (0L until rows by LoadedAtOnce).foreach { from =>
      input.load(from, math.min(rows, from + LoadedAtOnce))
      query.processAllAvailable()
    }

    def batch(): StreamingQueryProgress = {
      input.change(arguments.long("changes"))
      query.processAllAvailable()
      query.recentProgress.filter(_.numInputRows > 0).last
    }
  }

  private def session(arguments: Arguments, folder: Path): SparkSession = {
    val spark = SparkSession
      .builder()
      .master("local[2]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", arguments.text("partitions"))
      .config("spark.sql.session.timeZone", "UTC")
      .config("spark.sql.streaming.stateStore.maintenanceInterval", "5s")
      .config("spark.sql.streaming.checkpointFileManagerClass", Peer.FileManager)
      .config("spark.sql.streaming.noDataMicroBatches.enabled", "false")
      .config("spark.local.dir", folder.resolve("scratch").toString)
      .getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark
  }

  private def start(name: String, input: Input, folder: Path): StreamingQuery = {
    val result = name match {
      case "aggregation" =>
        input.updates.groupBy("key").agg(count("*"), sum("id"), max("id"))
      case "deduplication" =>
        input.events.dropDuplicatesWithinWatermark("id")
      case "join" =>
        val left = input.events
        val right = input.events.toDF("rightId", "rightTime")
        left.join(
          right,
          expr("id = rightId and time >= rightTime and time <= rightTime + interval 1 hour"))
      case "sessions" =>
        input.events.groupBy(session_window(col("time"), "10 seconds"), col("id")).count()
      case _ =>
        throw new IllegalArgumentException(
          s"no query is named $name; there are aggregation, deduplication, join, sessions")
    }
    result.writeStream
      .format("noop")
      .outputMode(if (name == "aggregation") "update" else "append")
      .option("checkpointLocation", folder.toString)
      .start()
  }

  private def numbers(
      floors: Seq[StreamingQueryProgress],
      batches: Seq[StreamingQueryProgress]): Numbers = {
    val triggers = batches.map(duration("triggerExecution"))
    val floorTriggers = floors.map(duration("triggerExecution"))
    Seq(
      "batchMedianMillis" -> median(triggers),
      "floorMedianMillis" -> median(floorTriggers),
      "timesFloor" -> median(triggers.zip(floorTriggers).map { case (batch, floor) =>
        batch / floor
      }),
      "addBatchMedianMillis" -> median(batches.map(duration("addBatch"))),
      "updatesMedianMillis" -> median(batches.map(operators(_.allUpdatesTimeMs))),
      "removalsMedianMillis" -> median(batches.map(operators(_.allRemovalsTimeMs))),
      "commitMedianMillis" -> median(batches.map(operators(_.commitTimeMs))),
      "stateRows" -> operators(_.numRowsTotal)(batches.last),
      "stateMemoryBytes" -> operators(_.memoryUsedBytes)(batches.last))
  }

  private def median(values: Seq[Double]): Double = values.sorted.apply(values.size / 2)

  private def duration(name: String)(progress: StreamingQueryProgress): Double =
    progress.durationMs.asScala.get(name).fold(0.0)(_.toDouble)

  private def operators(value: StateOperatorProgress => Long)(
      progress: StreamingQueryProgress): Double = progress.stateOperators.map(value).sum.toDouble
}

/** The input of the queries: a row of the stream names a range of ids, which tasks unfold, so that
  * the driver has nothing to do that grows with the batch.
  */
final private class Input(spark: SparkSession, rows: Long) {
  import Input._

  private implicit val ranges: Encoder[Ids] = Encoders.product
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
}

private object Input {
  final case class Ids(from: Long, until: Long, scattered: Boolean)
}
