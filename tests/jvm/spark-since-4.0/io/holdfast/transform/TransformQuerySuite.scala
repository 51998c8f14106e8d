package io.holdfast.transform

import java.nio.file.Path
import java.time.Duration

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.memoryStream
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.{Dataset, Encoder, Encoders, SparkSession}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.HoldfastExtensions
import io.holdfast.query.{Event, QuerySession}
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** `transformWithState` in queries that are stopped and started again, on Holdfast and on Spark's RocksDB
  * provider: the output of every batch is the same, and so is what the `statestore` source reads.
  */
@Slow
class TransformQuerySuite extends AnyFunSuite with BeforeAndAfterAll {
  import TransformQuerySuite._

  private lazy val spark: SparkSession =
    QuerySession.start(
      "TransformQuerySuite",
      "spark.sql.extensions" -> classOf[HoldfastExtensions].getName,
      // Without changelogs RocksDB has no change feed.
      "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> "true")

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  private def ledgers(
      events: Dataset[Event],
      timeMode: TimeMode,
      keeps: Option[Duration]): Dataset[String] = {
    implicit val text: Encoder[String] = Encoders.STRING
    events
      .withWatermark("at", "3 seconds")
      .filter(_.name != null)
      .groupByKey(_.name)
      .transformWithState(new Ledger(keeps, closesAfter(timeMode)), timeMode, OutputMode.Update())
  }

  /** What the query writes in every batch. */
  private def run(
      provider: String,
      checkpoint: Path,
      timeMode: TimeMode,
      keeps: Option[Duration]): Map[Long, Seq[String]] = {
    spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, provider)
    // With processing time there would be batches for ever.
    spark.conf.set(
      SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED.key,
      timeMode != TimeMode.ProcessingTime())
    val input = memoryStream(Encoders.product[Event], spark)
    val outputs = mutable.Map.empty[Long, Seq[String]]
    val keep: (Dataset[String], Long) => Unit = (rows, batch) =>
      outputs(batch) = rows.collect().toSeq.sorted
    (0 until Batches).grouped(BatchesPerStart).foreach { batches =>
      val query = ledgers(input.toDS(), timeMode, keeps).writeStream
        .outputMode(OutputMode.Update)
        .option("checkpointLocation", checkpoint.toString)
        .foreachBatch(keep)
        .start()
      try {
        batches.foreach { batch =>
          input.addData(Event.ofBatch(batch))
          query.processAllAvailable()
        }
        val metrics = query.lastProgress.stateOperators.head.customMetrics.keySet.toString
        assert(metrics.contains("holdfast") == (provider == Provider.Holdfast))
      } finally query.stop()
    }
    outputs.toMap
  }

  private def state(checkpoint: Path, options: (String, String)*): Set[Seq[Any]] =
    StateSource.rows(spark, checkpoint, options: _*)

  private val modes = Seq(
    ("without times", TimeMode.None(), None),
    ("with timers of event time", TimeMode.EventTime(), None),
    ("with time to live", TimeMode.ProcessingTime(), Some(Duration.ofDays(1000))))

  modes.foreach { case (how, timeMode, keeps) =>
    test(s"a query $how says in every batch what it says on RocksDB") {
      TemporaryFolder.use { folder =>
        val ours = run(Provider.Holdfast, folder.resolve("ours"), timeMode, keeps)
        val theirs = run(RocksDB, folder.resolve("theirs"), timeMode, keeps)
        assert(ours.size >= Batches)
        assert(ours == theirs)

        if (keeps.isEmpty) {
          def same(options: (String, String)*) = {
            val found = state(folder.resolve("ours"), options: _*)
            assert(found == state(folder.resolve("theirs"), options: _*))
            assert(found.nonEmpty)
          }
          same("stateVarName" -> "total")
          same("stateVarName" -> "amounts")
          same("stateVarName" -> "amounts", "flattenCollectionTypes" -> "false")
          same("stateVarName" -> "notes")
          same("stateVarName" -> "notes", "flattenCollectionTypes" -> "false")
          // There a key that changes several times in a batch has as many changes.
          Seq("total", "notes").foreach { name =>
            val feed =
              Seq("stateVarName" -> name, "readChangeFeed" -> "true", "changeStartBatchId" -> "1")
            val found = state(folder.resolve("ours"), feed: _*)
            assert(found.nonEmpty)
            assert(found.subsetOf(state(folder.resolve("theirs"), feed: _*)))
          }
          if (timeMode == TimeMode.EventTime()) same("readRegisteredTimers" -> "true")
        }
      }
    }
  }

  // Spark makes the store of a batch query itself, with its RocksDB provider, and throws it away.
  test("a batch query says what the first batch of a stream says") {
    TemporaryFolder.use { folder =>
      val streamed = run(Provider.Holdfast, folder, TimeMode.None(), None)
      val events = spark.createDataset(Event.ofBatch(0))(Encoders.product[Event])
      assert(ledgers(events, TimeMode.None(), None).collect().toSeq.sorted == streamed(0L))
    }
  }
}

object TransformQuerySuite {
  private val RocksDB =
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  private def closesAfter(timeMode: TimeMode): Option[Duration] =
    Option.when(timeMode == TimeMode.EventTime())(Duration.ofSeconds(12))

  private val Batches = 8
  private val BatchesPerStart = 3
}
