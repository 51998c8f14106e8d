package io.holdfast.start

import java.nio.file.Path

import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.{
  MemoryStream,
  memoryStream
}
import org.apache.spark.sql.functions.count
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery}
import org.apache.spark.sql.{DataFrame, Encoders, SparkSession}
import org.scalatest.{BeforeAndAfterAll, Suite}

import io.holdfast.HoldfastExtensions
import io.holdfast.query.QuerySession
import io.holdfast.testkit.LoggedWarnings

/** Queries that are started in a session with the extension. */
trait QueryStarts extends BeforeAndAfterAll { this: Suite =>

  protected lazy val spark: SparkSession =
    QuerySession.start(suiteName, "spark.sql.extensions" -> classOf[HoldfastExtensions].getName)

  override protected def afterAll(): Unit = spark.stop()

  protected val provider: String = SQLConf.STATE_STORE_PROVIDER_CLASS.key

  protected def inSession[A](settings: (String, String)*)(body: => A): A = {
    settings.foreach { case (name, value) => spark.conf.set(name, value) }
    try body
    finally settings.foreach { case (name, _) => spark.conf.unset(name) }
  }

  protected def words: MemoryStream[String] = memoryStream(Encoders.STRING, spark)

  protected def start(rows: DataFrame, checkpoint: Path): StreamingQuery = rows.writeStream
    .outputMode(OutputMode.Update)
    .option("checkpointLocation", checkpoint.toString)
    .format("noop")
    .start()

  protected def runOnce(rows: DataFrame, checkpoint: Path): Unit = {
    val query = start(rows, checkpoint)
    try query.processAllAvailable()
    finally query.stop()
  }

  protected def counts(input: MemoryStream[String]): DataFrame =
    input.toDF().groupBy("value").agg(count("*"))

  protected def warnings(body: => Any): Seq[String] = LoggedWarnings.of(classOf[QueryStart])(body)
}
