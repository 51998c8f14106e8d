package io.holdfast.query

import java.nio.file.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.store.OpenStores
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** Queries whose stores leave at the end of every task
  * (`spark.sql.streaming.stateStore.unloadOnCommit`).
  */
@Slow
class UnloadOnCommitQuerySuite extends AnyFunSuite with BeforeAndAfterAll {

  private lazy val spark: SparkSession = QuerySession.start("UnloadOnCommitQuerySuite")

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  StatefulQuery.all.foreach { query =>
    test(s"$query keeps nothing in memory, and does what it does on Spark's provider") {
      TemporaryFolder.use { folder =>
        val expected = run(query, Provider.Spark, folder)
        val found = run(query, Provider.Holdfast, folder)
        assert(found.output == expected.output)
        val newest = expected.checkpoint.newestBatch
        assert(found.checkpoint.state(spark, newest) == expected.checkpoint.state(spark, newest))
        // The maintenance of a store that leaves is done on its way out.
        assert(found.checkpoint.stateFiles(query.codec).keys.exists(_.endsWith(".snapshot")))
      }
    }
  }

  private def run(query: StatefulQuery, provider: String, folder: Path): QueryRun = {
    spark.conf.set(SQLConf.STATE_STORE_COMPRESSION_CODEC.key, query.codec)
    spark.conf.set(SQLConf.STATE_STORE_UNLOAD_ON_COMMIT.key, true)
    spark.conf.set(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key, 1)
    spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, provider)
    val run = new QueryRun(spark, query, new QueryCheckpoint(folder.resolve(provider)))
    run.process((0 until 4).map(Event.ofBatch))
    assert(!OpenStores.all.exists(_.context.id.checkpointRootLocation.contains(folder.toString)))
    run
  }
}
