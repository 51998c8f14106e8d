package io.holdfast.transform

import java.nio.file.Path
import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.sql.execution.streaming.state.holdfast.TimedQuery
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{TimeMode, Trigger}
import org.apache.spark.sql.{DataFrame, Dataset, Encoders, Row, SparkSession}

import io.holdfast.HoldfastExtensions
import io.holdfast.operators.{KilledDriver, QueryFolder}
import io.holdfast.query.Event
import io.holdfast.testkit.Provider

/** The driver process of [[TransformKilled]]; the arguments behind the folder are the names of queries. */
object TransformDriver extends KilledDriver {

  val RocksDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  override protected def run(stage: String, root: Path, names: Seq[String]): Unit = {
    val spark = KilledDriver.session(
      "spark.sql.extensions" -> classOf[HoldfastExtensions].getName,
      Provider.RowChecksums -> "false")
    val queries = names.map(TransformQuery.named)
    def on(provider: String, queries: Seq[TransformQuery] = queries) =
      queries.map(new TransformRun(spark, root, _, provider))
    if (stage == KilledDriver.ToBeKilled) {
      on(RocksDB).foreach(_.toTheEnd())
      on(Provider.Holdfast).foreach(_.toTheKill())
    } else {
      on(Provider.Holdfast).foreach(_.toTheEnd())
      Seq(RocksDB, Provider.Holdfast)
        .flatMap(on(_, queries.filter(_.isReadable)))
        .foreach(_.readState())
    }
  }
}

/** A query on a provider in a driver. */
final private class TransformRun(
    spark: SparkSession,
    root: Path,
    query: TransformQuery,
    provider: String) {
  import TransformRun._

  private val folder = new QueryFolder(root, query.name, provider)
  private val session = {
    val session = spark.newSession()
    // Spark's reader of state looks at these, too.
    query.settings.foreach { case (name, value) => session.conf.set(name, value.toString) }
    session
  }
  // The processing time of the next batch that is planned.
  private val millis = new AtomicLong(Hour)

  def toTheEnd(): Unit = start(keep).awaitTermination()

  def toTheKill(): Unit = KilledDriver.toTheKill(query.killedIn, keep)(start(_))

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
    val schema = Encoders.product[Event]
    val events = session.readStream
      .schema(schema.schema)
      .option("maxFilesPerTrigger", 1)
      .json(KilledDriver.inputs(root).toString)
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
