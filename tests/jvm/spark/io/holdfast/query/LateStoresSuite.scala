package io.holdfast.query

import org.apache.spark.sql.{Encoders, SparkSession}
import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.memoryStream
import org.apache.spark.sql.execution.streaming.state.holdfast.ToldStores
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, TemporaryFolder}

/** A task that opens its stores while its query is stopped tells Spark of them when Spark has forgotten
  * the run. It takes them for stores of a run that goes on then, as long as their executor lives.
  */
class LateStoresSuite extends AnyFunSuite with BeforeAndAfterAll {

  private lazy val spark: SparkSession =
    QuerySession.start(
      "LateStoresSuite",
      SQLConf.STATE_STORE_PROVIDER_CLASS.key -> Provider.Holdfast)

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  test("stores that Spark was told of too late give room to the next run of their query") {
    TemporaryFolder.use { folder =>
      val input = memoryStream(Encoders.product[Event], spark)
      def running(batch: Int)(body: => Any): Unit = {
        val query = StatefulQuery.all.head
          .on(input.toDF())
          .writeStream
          .outputMode("update")
          .option("checkpointLocation", folder.resolve("checkpoint").toString)
          .format("noop")
          .start()
        try {
          input.addData(Event.ofBatch(batch))
          query.processAllAvailable()
          val _ = body
        } finally query.stop()
      }

      running(0)(())
      val late = QuerySession.storesIn(folder)
      assert(late.size == QuerySession.Partitions)
      late.foreach(store => ToldStores.tell(store.context.providerId))
      late.foreach(_.forgetIfEnded())
      assert(late.forall(_.inMemory.latest.isDefined))
      running(1) {
        val next = QuerySession.storesIn(folder).filterNot(late.contains)
        assert(next.size == QuerySession.Partitions)
        (late ++ next).foreach(_.forgetIfEnded())
        assert(late.forall(_.inMemory.latest.isEmpty))
        assert(next.forall(_.inMemory.latest.isDefined))
      }
    }
  }
}
