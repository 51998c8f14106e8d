package io.holdfast.query

import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.memoryStream
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{Encoders, SparkSession}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, TemporaryFolder}

/** Spark's `statestore` source in a session of its own. Without a coordinator Spark 4.1 and 4.2 would fail,
  * and 4.3 would not, so it is no slow test of the newest line alone.
  */
class StateSourceSuite extends AnyFunSuite {

  test("state is read in a session that has begun no query, and has no coordinator of stores") {
    TemporaryFolder.use { folder =>
      val checkpoint = new QueryCheckpoint(folder.resolve("checkpoint"))
      val written = within(spark => countWithSnapshot(spark, checkpoint))
      assert(written > 0)
      assert(within(spark => checkpoint.state(spark, checkpoint.newestBatch).size) == written)
    }
  }

  private def within[A](use: SparkSession => A): A = {
    val spark = QuerySession.start("StateSourceSuite")
    try use(spark)
    finally QuerySession.stop(spark)
  }

  private def countWithSnapshot(spark: SparkSession, checkpoint: QueryCheckpoint): Int = {
    spark.conf.set(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key, 1)
    spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, Provider.Holdfast)
    val input = memoryStream(Encoders.product[Event], spark)
    val query = StatefulQuery.all.head
      .on(input.toDF())
      .writeStream
      .outputMode("update")
      .option("checkpointLocation", checkpoint.location)
      .format("noop")
      .start()
    try {
      (0 until 3).foreach { batch =>
        input.addData(Event.ofBatch(batch))
        query.processAllAvailable()
      }
      checkpoint.state(spark, checkpoint.newestBatch).size
    } finally query.stop()
  }
}
