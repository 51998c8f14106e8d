package io.holdfast.bench

import java.nio.file.Path

import org.apache.hadoop.fs.FileUtil
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.holdfast.AllStores
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryProgress}

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

  private val input = new QueryInput(spark, rows)
  private val running = {
    val settings = peer.settings + (SQLConf.STATE_STORE_PROVIDER_CLASS.key -> peer.providerClass)
    settings.foreach { case (name, value) => spark.conf.set(name, value) }
    try start(query, input, folder)
    finally settings.keys.foreach(spark.conf.unset)
  }

  /** Makes the state grow to its size, in batches that are as large as the heap and the files of the
    * shuffle allow: every one of them looks through the state in most providers.
    */
  def load(): Unit = (0L until rows by LoadedAtOnce).foreach { from =>
    val end = math.min(rows, from + LoadedAtOnce)
    // The ids of a part are unfolded by one task.
    val half = from + (end - from) / 2
    input.load(from, half)
    input.load(half, end)
    running.processAllAvailable()
  }

  /** Makes the watermark what it is after [[load]], and nothing else. */
  def loadLast(): Unit = {
    input.load(rows - 1, rows)
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
    progressOfBatch()
  }

  /** Runs a batch of one of the last ids again, of which nothing expires, and tells its progress. */
  def idle(): StreamingQueryProgress = {
    input.again()
    progressOfBatch()
  }

  private def progressOfBatch(): StreamingQueryProgress = {
    running.processAllAvailable()
    running.recentProgress.filter(_.numInputRows > 0).last
  }
}

object RunningQuery {
  private val LoadedAtOnce = 2000000L

  private val InUpdateMode =
    Set("aggregation", "windowsInUpdate", "valueState", "listState", "mapState")

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
      AllStores.close()
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

  private def start(name: String, input: QueryInput, folder: Path): StreamingQuery =
    input
      .query(name)
      .writeStream
      .format("noop")
      .outputMode(if (InUpdateMode(name)) "update" else "append")
      .option("checkpointLocation", folder.toString)
      .start()
}
