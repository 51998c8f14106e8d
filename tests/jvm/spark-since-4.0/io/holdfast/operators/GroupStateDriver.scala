package io.holdfast.operators

import java.nio.file.Path

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{Dataset, Encoders, Row, SparkSession}

import io.holdfast.testkit.Provider

/** The driver process of [[GroupStateSuite]]. */
object GroupStateDriver extends KilledDriver {

  override protected def run(stage: String, root: Path, others: Seq[String]): Unit = {
    val spark = KilledDriver.session()
    def on(provider: String) = GroupStateQuery.all.map(new GroupStateRun(spark, root, _, provider))
    if (stage == KilledDriver.ToBeKilled) {
      on(Provider.Spark).foreach(_.toTheEnd())
      on(Provider.Holdfast).foreach(_.toTheKill())
    } else {
      on(Provider.Holdfast).foreach(_.toTheEnd())
      (on(Provider.Spark) ++ on(Provider.Holdfast)).foreach(_.readState())
    }
  }
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

  def toTheKill(): Unit = KilledDriver.toTheKill(query.killedIn, keep)(start(_))

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
      .json(KilledDriver.inputs(root).toString)
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
