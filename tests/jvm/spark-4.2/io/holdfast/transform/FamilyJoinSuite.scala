package io.holdfast.transform

import java.nio.file.Path

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.memoryStream
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{DataFrame, Encoders, SparkSession}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.query.{Event, QuerySession}
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** Joins of streams whose rows are in column families, on Holdfast and on Spark's RocksDB provider. Spark
  * 4.2 lets any provider have them; 4.3 sets the format of a new query back to 2.
  */
@Slow
class FamilyJoinSuite extends AnyFunSuite with BeforeAndAfterAll {
  private lazy val spark: SparkSession = QuerySession.start("FamilyJoinSuite")

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  private def run(provider: String, checkpoint: Path, kind: String): Map[Long, Seq[String]] = {
    spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, provider)
    val left = memoryStream(Encoders.product[Event], spark)
    val right = memoryStream(Encoders.product[Event], spark)
    val joined = left
      .toDF()
      .withWatermark("at", "10 seconds")
      .as("l")
      .join(
        right.toDF().withWatermark("at", "10 seconds").as("r"),
        expr("l.name = r.name and r.at between l.at - interval 6 seconds and l.at"),
        kind)
      .selectExpr("l.name", "l.at", "l.amount", "r.at", "r.amount")
    val outputs = mutable.Map.empty[Long, Seq[String]]
    val keep: (DataFrame, Long) => Unit = (rows, batch) =>
      outputs(batch) = rows.collect().map(_.toString).toSeq.sorted
    (0 until 9).grouped(4).foreach { batches =>
      val query = joined.writeStream
        .option("checkpointLocation", checkpoint.toString)
        .foreachBatch(keep)
        .start()
      try {
        batches.foreach { batch =>
          left.addData(Event.ofBatch(batch))
          right.addData(Event.ofBatch(batch).filter(_.amount % 3 == 0))
          query.processAllAvailable()
        }
        val metrics = query.lastProgress.stateOperators.head.customMetrics.keySet.toString
        assert(metrics.contains("holdfast") == (provider == Provider.Holdfast))
      } finally query.stop()
    }
    outputs.toMap
  }

  for {
    format <- Seq(3, 4)
    kind <- Seq("inner", "left_outer")
  } test(s"a $kind join of format $format says in every batch what it says on RocksDB") {
    spark.conf.set("spark.sql.streaming.join.stateFormatVersion", format.toLong)
    spark.conf.set("spark.sql.streaming.join.stateFormatV4.enabled", format == 4)
    TemporaryFolder.use { folder =>
      val ours = run(Provider.Holdfast, folder.resolve("ours"), kind)
      val theirs =
        run(
          "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
          folder.resolve("theirs"),
          kind)
      assert(ours == theirs)
      assert(ours.values.map(_.size).sum > 50)
    }
  }
}
