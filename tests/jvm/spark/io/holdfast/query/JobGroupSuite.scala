package io.holdfast.query

import java.nio.file.Path
import java.util.UUID

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.memoryStream
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{DataFrame, Encoders, SparkSession}
import org.scalatest.{Assertion, BeforeAndAfterAll}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.testkit.{Provider, TemporaryFolder}

/** Queries whose `foreachBatch` gives its jobs a group of its own, or none, as those have that it starts
  * from threads of its own, and with its jobs the store's tasks: their stores are maintained like others.
  */
@Slow
class JobGroupSuite extends AnyFunSuite with BeforeAndAfterAll {

  private lazy val spark: SparkSession = QuerySession.start("JobGroupSuite")

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  private val groups = Seq[(String, SparkContext => Unit)](
    "a group with a name" -> (_.setJobGroup("load batch", "a batch")),
    "a group with an id" -> (_.setJobGroup(UUID.randomUUID.toString, "a batch")),
    "no group" -> (_.clearJobGroup()))

  for ((how, setGroup) <- groups)
    test(s"a query whose jobs have $how has snapshots") {
      TemporaryFolder.use(folder => assertHasSnapshots(run(folder)(setGroup)))
    }

  test(
    "a query that leaves the group as it is has snapshots, and nothing in memory when it has ended") {
    TemporaryFolder.use { folder =>
      assertHasSnapshots(run(folder)(_ => ()))
      val left = QuerySession.storesIn(folder)
      assert(left.nonEmpty)
      left.foreach(_.forgetIfEnded())
      assert(left.forall(_.inMemory.latest.isEmpty))
    }
  }

  private def assertHasSnapshots(checkpoint: QueryCheckpoint): Assertion = {
    val snapshots = checkpoint.stateFiles("lz4").keys.filter(_.endsWith(".snapshot"))
    assert(snapshots.size == QuerySession.Partitions)
  }

  private def run(folder: Path)(setGroup: SparkContext => Unit): QueryCheckpoint = {
    spark.conf.set(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key, 1)
    spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, Provider.Holdfast)
    val checkpoint = new QueryCheckpoint(folder.resolve("checkpoint"))
    val input = memoryStream(Encoders.product[Event], spark)
    val keep: (DataFrame, Long) => Unit = (rows, _) => {
      setGroup(spark.sparkContext)
      val _ = rows.collect()
    }
    val query = StatefulQuery.all.head
      .on(input.toDF())
      .writeStream
      .outputMode("update")
      .option("checkpointLocation", checkpoint.location)
      .foreachBatch(keep)
      .start()
    try {
      (0 until 4).foreach { batch =>
        input.addData(Event.ofBatch(batch))
        query.processAllAvailable()
      }
      // What Spark's maintenance does on its timer, outside of any task.
      QuerySession.storesIn(folder).foreach(_.snapshots.run())
    } finally query.stop()
    checkpoint
  }
}
