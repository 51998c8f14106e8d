package io.holdfast.transform

import java.nio.file.Path

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.memoryStream
import org.apache.spark.sql.execution.streaming.state.holdfast.TimedQuery
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, TimeMode, Trigger}
import org.apache.spark.sql.{Dataset, Encoder, Encoders, SparkSession}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.HoldfastExtensions
import io.holdfast.query.{Event, QuerySession}
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** State that expires, in a query whose clock the test sets, on Holdfast and on Spark's RocksDB provider.
  */
@Slow
class TransformExpirySuite extends AnyFunSuite with BeforeAndAfterAll {
  import TransformExpirySuite._
  import Fading.Kept

  private lazy val spark: SparkSession = QuerySession.start(
    "TransformExpirySuite",
    "spark.sql.extensions" -> classOf[HoldfastExtensions].getName,
    // With processing time there would be batches for ever.
    SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED.key -> "false")

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  /** What the query says in every batch. */
  private def run(provider: String, checkpoint: Path): Map[Long, Seq[Kept]] = {
    implicit val text: Encoder[String] = Encoders.STRING
    implicit val kept: Encoder[Kept] = Encoders.product[Kept]
    spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, provider)
    val input = memoryStream(Encoders.product[Event], spark)
    val outputs = mutable.Map.empty[Long, Seq[Kept]]
    val keep: (Dataset[Kept], Long) => Unit = (rows, batch) =>
      outputs(batch) = rows.collect().toSeq.sortBy(row => (row.name, row.at, row.toString))
    @volatile var now = 0L
    (0 until Batches).grouped(BatchesPerStart).foreach { batches =>
      val rows = input
        .toDS()
        .filter(_.name != null)
        .groupByKey(_.name)
        .transformWithState(new Fading, TimeMode.ProcessingTime(), OutputMode.Update())
      now = timeOf(batches.head)
      val query = TimedQuery.start(
        rows,
        OutputMode.Update(),
        checkpoint.toString,
        Trigger.ProcessingTime(0),
        () => now)(keep)
      try
        batches.foreach { batch =>
          now = timeOf(batch)
          input.addData(Event.ofBatch(batch))
          query.processAllAvailable()
        }
      finally query.stop()
    }
    outputs.toMap
  }

  /** Whether what a name had at a time was gone later. */
  private def hasExpired(outputs: Map[Long, Seq[Kept]])(has: Kept => Boolean): Boolean =
    outputs.toSeq.sortBy(_._1).flatMap(_._2).groupBy(_.name).values.exists { kept =>
      kept.dropWhile(!has(_)).exists(!has(_))
    }

  test("values, lists and maps expire, and timers make others, as on RocksDB") {
    TemporaryFolder.use { folder =>
      val (ours, theirs) = (folder.resolve("ours"), folder.resolve("theirs"))
      val outputs = run(Provider.Holdfast, ours)
      assert(outputs == run(RocksDB, theirs))
      assert(outputs.size == Batches)
      assert(hasExpired(outputs)(_.value.isDefined))
      assert(hasExpired(outputs)(_.list.nonEmpty))
      assert(hasExpired(outputs)(_.map.exists(_._1 != Fading.FromTimer)))
      assert(outputs.values.flatten.exists(_.at % MillisPerBatch != 0))

      val whole = "flattenCollectionTypes" -> "false"
      Seq(
        Seq("stateVarName" -> "value"),
        Seq("stateVarName" -> "list"),
        Seq("stateVarName" -> "list", whole),
        Seq("stateVarName" -> "map"),
        Seq("stateVarName" -> "map", whole),
        Seq("stateVarName" -> "map", whole, "batchId" -> "3"),
        Seq("readRegisteredTimers" -> "true")).foreach { options =>
        val found = StateSource.rows(spark, ours, options: _*)
        assert(found == StateSource.rows(spark, theirs, options: _*), options)
        assert(found.nonEmpty, options)
      }
    }
  }
}

object TransformExpirySuite {
  private val RocksDB =
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  private val Batches = 8
  private val BatchesPerStart = 4
  private val MillisPerBatch = 3000L

  private def timeOf(batch: Int): Long = (1000 + batch) * MillisPerBatch
}
