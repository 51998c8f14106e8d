package io.holdfast.ids

import java.nio.file.Path

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.memoryStream
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.{DataFrame, Encoders, SparkSession}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.session.BuildInfo
import io.holdfast.query.{Event, QuerySession}
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** A query of checkpoint format 2 that is started without the setting, and with it again. */
class DroppedFormatSuite extends AnyFunSuite with BeforeAndAfterAll {
  private lazy val spark: SparkSession = QuerySession.start("DroppedFormatSuite")

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  test("the query goes on as if the start without the setting had not been") {
    TemporaryFolder.use { folder =>
      spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, Provider.Holdfast)
      val counts = new Counts(folder)
      (0 to 1).foreach(counts.runIn(2, _))
      // 4.3 takes the format out of the commit log.
      if (BuildInfo.current.sparkLine == "4.2") {
        val e = intercept[StreamingQueryException](counts.runIn(1, 2))
        assert(e.getMessage.contains("checkpointFormatVersion is 1 now: set it to 2"))
      } else counts.runIn(1, 2)
      counts.runIn(2, 3)
      val all = (0 to 3).flatMap(Event.ofBatch).groupBy(_.name).map { case (name, events) =>
        name -> events.size.toLong
      }
      assert(counts.shown == all)
    }
  }

  /** Events by name, of which each start of the query counts a batch. */
  private class Counts(checkpoint: Path) {
    private val input = memoryStream(Encoders.product[Event], spark)
    private val counted = mutable.Map.empty[String, Long]

    def shown: Map[String, Long] = counted.toMap

    def runIn(format: Int, batch: Int): Unit = {
      spark.conf.set(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key, format.toLong)
      input.addData(Event.ofBatch(batch))
      val show: (DataFrame, Long) => Unit = (rows, _) =>
        rows.collect().foreach(row => counted(row.getString(0)) = row.getLong(1))
      val query = input
        .toDF()
        .groupBy("name")
        .count()
        .writeStream
        .outputMode("update")
        .option("checkpointLocation", checkpoint.toString)
        .foreachBatch(show)
        .start()
      try query.processAllAvailable()
      finally query.stop()
    }
  }
}
