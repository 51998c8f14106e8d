package io.holdfast.query

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.{Assertion, BeforeAndAfterAll}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.testkit.{Provider, TemporaryFolder}

/** Queries that go from Spark's default provider to Holdfast and back from one checkpoint, beside the
  * same query on Spark's provider alone: output, state and state files agree after every leg.
  */
@Slow
class SwitchedQuerySuite extends AnyFunSuite with BeforeAndAfterAll {
  import SwitchedQuerySuite._

  // Without maintenance, so that both checkpoints have the same files: one delta for each version.
  private lazy val spark: SparkSession = QuerySession.start("SwitchedQuerySuite")

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  for {
    query <- StatefulQuery.all
    legs <- Seq(
      Seq(Provider.Spark, Provider.Holdfast, Provider.Spark),
      Seq(Provider.Holdfast, Provider.Spark, Provider.Holdfast))
  } test(s"$query from ${legs.map(_.split('.').last).mkString(" to ")}") {
    TemporaryFolder.use { folder =>
      spark.conf.set(SQLConf.STATE_STORE_COMPRESSION_CODEC.key, query.codec)
      def run(name: String) =
        new QueryRun(spark, query, new QueryCheckpoint(folder.resolve(name)))
      val alone = run("alone")
      val switched = run("switched")

      legs.indices.foreach { leg =>
        val events = (leg * BatchesPerLeg until (leg + 1) * BatchesPerLeg).map(Event.ofBatch)
        spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, Provider.Spark)
        alone.process(events)
        // The checkpoint overrides this setting from the second leg on.
        spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, legs.head)
        if (leg > 0) switched.checkpoint.switchProvider(legs(leg - 1), legs(leg))
        val metrics = switched.process(events)

        assert(metrics.exists(_.startsWith("holdfast")) == (legs(leg) == Provider.Holdfast))
        assertSame(query, alone, switched)
      }
    }
  }

  private def assertSame(query: StatefulQuery, alone: QueryRun, switched: QueryRun): Assertion = {
    assert(switched.output == alone.output)

    val newest = alone.checkpoint.newestBatch
    assert(switched.checkpoint.newestBatch == newest)
    val state = alone.checkpoint.state(spark, newest)
    assert(state.nonEmpty)
    assert(switched.checkpoint.state(spark, newest) == state)

    val expected = alone.checkpoint.stateFiles(query.codec)
    val found = switched.checkpoint.stateFiles(query.codec)
    assert(found.keySet == expected.keySet)
    assert(found.keySet.size == QuerySession.Partitions * (newest + 1))
    assert(expected.values.exists(_.values.exists(_.isEmpty)) == query.removesRows)
    val different = found.keySet.filter(name => found(name) != expected(name))
    assert(different.isEmpty, "- the records of these files differ")
  }
}

object SwitchedQuerySuite {
  private val BatchesPerLeg = 2
}
