package io.holdfast.transform

import java.nio.file.{Path, Paths}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode
import org.apache.spark.sql.execution.streaming.state.holdfast.TimedQuery
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{TimeMode, Trigger}
import org.apache.spark.sql.{DataFrame, Dataset, Encoders, Row, SparkSession}

import io.holdfast.operators.QueryFolder
import io.holdfast.query.{Event, QuerySession}
import io.holdfast.testkit.Provider
import io.holdfast.{HoldfastCheckpointFileManager, HoldfastExtensions}

/** A driver process of [[TransformKilled]]. Its first argument is a stage, its second one the folder of
  * the run, and the others are the names of the queries. It prints a line, [[Arrived]], when it may be killed, and waits for that or for the end of
  * the suite's process.
  */
object TransformDriver {

  /** The queries run on Spark's provider to their end, and on Holdfast to the middle of a batch. */
  val ToBeKilled = "to-be-killed"

  /** The queries on Holdfast go on to their end, and all states are read. */
  val ToTheEnd = "to-the-end"

  val Arrived = "arrived"

  val RocksDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  def inputs(root: Path): Path = root.resolve("inputs")

  def main(arguments: Array[String]): Unit = {
    val root = Paths.get(arguments(1))
    val spark = session()
    val queries = arguments.toSeq.drop(2).map(TransformQuery.named)
    def on(provider: String) = queries.map(new TransformRun(spark, root, _, provider))
    if (arguments(0) == ToBeKilled) {
      on(RocksDB).foreach(_.toTheEnd())
      on(Provider.Holdfast).foreach(_.toTheKill())
    } else {
      on(Provider.Holdfast).foreach(_.toTheEnd())
      (on(RocksDB) ++ on(Provider.Holdfast)).foreach(_.readState())
    }
    println(Arrived)
    System.in.read()
    Runtime.getRuntime.halt(0)
  }

  private def session(): SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .config("spark.sql.extensions", classOf[HoldfastExtensions].getName)
    .config("spark.sql.adaptive.enabled", "false")
    .config(SQLConf.SESSION_LOCAL_TIMEZONE.key, "UTC")
    .config(SQLConf.SHUFFLE_PARTITIONS.key, QuerySession.Partitions)
    // Compiling takes longer than running for so few rows.
    .config(SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key, false)
    .config(SQLConf.CODEGEN_FACTORY_MODE.key, CodegenObjectFactoryMode.NO_CODEGEN.toString)
    .config(
      SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key,
      classOf[HoldfastCheckpointFileManager].getName)
    .config(Provider.RowChecksums, "false")
    .getOrCreate()
}

/** A query on a provider in a driver. */
final private class TransformRun(
    spark: SparkSession,
    root: Path,
    query: TransformQuery,
    provider: String) {
  import TransformRun._

  private val folder = new QueryFolder(root, query.name, provider)
  private val session = spark.newSession()
  // The processing time of the next batch that is planned.
  private val millis = new AtomicLong(Hour)

  def toTheEnd(): Unit = start(keep).awaitTermination()

  /** Returns when one partition of the fatal batch has written its state, and the batch waits. */
  def toTheKill(): Unit = {
    val arrived = new CountDownLatch(1)
    start { (rows, batch) =>
      if (batch < query.killedIn) keep(rows, batch)
      else {
        spark.sparkContext.runJob(
          rows.queryExecution.toRdd,
          (_: Iterator[_]).foreach(_ => ()),
          Seq(0))
        arrived.countDown()
        new CountDownLatch(1).await()
      }
    }
    arrived.await()
  }

  def readState(): Unit = folder.writeState(
    if (query.chained) Seq("0", "1").flatMap(read("operatorId", _))
    else {
      Seq("total", "amounts", "notes").flatMap(read("stateVarName", _)) ++
        (if (query.hasTimers) read("readRegisteredTimers", "true") else Nil)
    })

  private def read(option: String, value: String): Seq[String] = {
    val options =
      if (option == "operatorId" && isTransform(value))
        Map(option -> value, "stateVarName" -> "seen")
      else Map(option -> value)
    session.read
      .format("statestore")
      .options(options)
      .load(folder.checkpoint.toString)
      .collect()
      .toSeq
      .map(row => s"$value: $row")
  }

  private def isTransform(operator: String): Boolean =
    session.read
      .format("state-metadata")
      .load(folder.checkpoint.toString)
      .where(s"operatorId = $operator and operatorName like 'transformWithState%'")
      .count() > 0

  private def keep(rows: Dataset[Row], batch: Long): Unit = {
    folder.writeBatch(batch, rows.collect().toSeq.map(_.toString))
    millis.set((batch + 2) * Hour)
  }

  private def start(write: (DataFrame, Long) => Unit) = {
    session.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, provider)
    // With batches that only look for timeouts a query without more data would never end.
    session.conf.set(
      SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED.key,
      query.timeMode != TimeMode.ProcessingTime())
    query.settings.foreach { case (name, value) => session.conf.set(name, value.toString) }
    val schema = Encoders.product[Event]
    val events = session.readStream
      .schema(schema.schema)
      .option("maxFilesPerTrigger", 1)
      .json(TransformDriver.inputs(root).toString)
      .as(schema)
    millis.set((folder.newest("offsets") + 2) * Hour)
    TimedQuery.start(
      query.on(events),
      query.outputMode,
      folder.checkpoint.toString,
      Trigger.AvailableNow(),
      () => millis.get)(write)
  }
}

private object TransformRun {
  private val Hour = 3600 * 1000L
}
