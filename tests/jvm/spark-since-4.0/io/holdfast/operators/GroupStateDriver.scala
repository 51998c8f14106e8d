package io.holdfast.operators

import java.nio.file.{Path, Paths}
import java.util.concurrent.CountDownLatch

import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{Dataset, Encoders, Row, SparkSession}

import io.holdfast.HoldfastCheckpointFileManager
import io.holdfast.testkit.Provider

/** A driver process of [[GroupStateSuite]]. Its first argument is a stage, its second one the folder of
  * the run. It prints a line, [[Arrived]], when it may be killed, and waits for that or
  * for the end of the suite's process.
  */
object GroupStateDriver {

  /** The queries run on Spark's provider to their end, and on Holdfast to the middle of a batch. */
  val ToBeKilled = "to-be-killed"

  /** The queries on Holdfast go on to their end, and all states are read. */
  val ToTheEnd = "to-the-end"

  val Arrived = "arrived"

  val Partitions = 2

  private val LocalFiles = classOf[HoldfastCheckpointFileManager].getName

  def inputs(root: Path): Path = root.resolve("inputs")

  def main(arguments: Array[String]): Unit = {
    val stage = arguments(0)
    val root = Paths.get(arguments(1))
    val spark = session()
    if (stage == ToBeKilled) {
      GroupStateQuery.all.foreach(new GroupStateRun(spark, root, _, Provider.Spark).toTheEnd())
      GroupStateQuery.all.foreach(new GroupStateRun(spark, root, _, Provider.Holdfast).toTheKill())
    } else {
      GroupStateQuery.all.foreach(new GroupStateRun(spark, root, _, Provider.Holdfast).toTheEnd())
      for (query <- GroupStateQuery.all; provider <- Seq(Provider.Spark, Provider.Holdfast)) {
        new GroupStateRun(spark, root, query, provider).readState()
      }
    }
    println(Arrived)
    System.in.read()
    Runtime.getRuntime.halt(0)
  }

  private def session(): SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .config("spark.sql.adaptive.enabled", "false")
    .config(SQLConf.SESSION_LOCAL_TIMEZONE.key, "UTC")
    .config(SQLConf.SHUFFLE_PARTITIONS.key, Partitions)
    // Compiling takes longer than running for so few rows.
    .config(SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key, false)
    .config(SQLConf.CODEGEN_FACTORY_MODE.key, CodegenObjectFactoryMode.NO_CODEGEN.toString)
    .config(SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key, LocalFiles)
    .getOrCreate()
}

/** A query on a provider in a driver. */
final private class GroupStateRun(
    spark: SparkSession,
    root: Path,
    query: GroupStateQuery,
    provider: String) {
  private val folder = new QueryFolder(root, query.name, provider)
  private val session = spark.newSession()
  session.conf.set(SQLConf.STATE_STORE_FORMAT_VALIDATION_ENABLED.key, query.passesFormatValidation)

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

  def readState(): Unit = {
    val rows = session.read.format("statestore").load(folder.checkpoint.toString)
    val lasting =
      if (query.isTimedByClock)
        rows.withColumn("value", rows("value").dropFields("timeoutTimestamp"))
      else rows
    folder.writeState(lasting.collect().toSeq.map(_.toString))
  }

  private def keep(rows: Dataset[Row], batch: Long): Unit =
    folder.writeBatch(batch, rows.collect().toSeq.map(_.toString))

  private def start(write: (Dataset[Row], Long) => Unit) = {
    session.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, provider)
    // With batches that only look for timeouts a query without more data would never end.
    session.conf.set(SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED.key, !query.isTimedByClock)
    query.settings.foreach { case (name, value) => session.conf.set(name, value.toString) }
    val events = session.readStream
      .schema(Event.Schema)
      .option("maxFilesPerTrigger", 1)
      .json(GroupStateDriver.inputs(root).toString)
      .as(Encoders.product[Event])
    query
      .on(events)
      .writeStream
      .outputMode(query.outputMode)
      .option("checkpointLocation", folder.checkpoint.toString)
      .trigger(Trigger.AvailableNow())
      .foreachBatch(write)
      .start()
  }
}
