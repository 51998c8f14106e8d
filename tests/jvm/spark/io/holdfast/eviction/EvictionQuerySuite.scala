package io.holdfast.eviction

import java.nio.file.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StateOperatorProgress
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.HoldfastExtensions
import io.holdfast.memory.StoreMemory
import io.holdfast.query.QuerySession
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** Every operator that removes rows when their time has come, in every output mode and state format,
  * with hints and without: the same rows in the same order in every batch, the same numbers and the
  * same bytes in every state file, also after a restart.
  */
@Slow
class EvictionQuerySuite extends AnyFunSuite with BeforeAndAfterAll {
  import EvictionQuerySuite._
  import EvictionRun.metric

  private lazy val spark: SparkSession = QuerySession.start(
    "EvictionQuerySuite",
    "spark.sql.extensions" -> classOf[HoldfastExtensions].getName,
    SQLConf.STATE_STORE_PROVIDER_CLASS.key -> Provider.Holdfast)

  private var heldBefore = 0L

  override protected def beforeAll(): Unit = heldBefore = StoreMemory.heldInThisJvm

  override protected def afterAll(): Unit = {
    QuerySession.stop(spark)
    // What walks count beside the versions is given back.
    val _ = assert(StoreMemory.heldInThisJvm == heldBefore)
  }

  private def inSession[A](settings: Map[String, String])(body: => A): A = {
    settings.foreach { case (name, value) => spark.conf.set(name, value) }
    try body
    finally settings.keys.foreach(spark.conf.unset)
  }

  private def run(query: EvictionQuery, hints: Boolean, folder: Path): EvictionRun =
    inSession(query.settings + (Hints -> hints.toString)) {
      val run = new EvictionRun(spark, query, folder.resolve(s"hints-$hints"))
      // The second half begins with state that is loaded.
      batches.grouped(batches.size / 2).foreach(half => run.process(half)(_ => ()))
      run
    }

  EvictionQuery.all.foreach { query =>
    test(s"$query") {
      TemporaryFolder.use { folder =>
        val whole = run(query, hints = false, folder)
        val found = run(query, hints = true, folder)

        assert(found.output == whole.output)
        assert(found.progress.keySet == whole.progress.keySet)
        whole.progress.foreach { case (batch, operators) =>
          assert(found.progress(batch).map(counts) == operators.map(counts), s"- in batch $batch")
        }
        if (!query.byClock) assert(found.stateFiles == whole.stateFiles)
        else assert(found.stateFiles.keySet == whole.stateFiles.keySet)

        assert(whole.progress.values.flatten.forall(metric(_, Hinted) == 0))
        val hinted = found.progress.values.flatten.filter(metric(_, Hinted) > 0)
        assert(hinted.nonEmpty == query.hinted)
        if (query.hinted) {
          assert(found.progress.values.count(_.forall(metric(_, Hinted) > 0)) > 1)
          assert(whole.progress.values.flatten.map(metric(_, "holdfastRemoveCount")).sum > 0)
        }
      }
    }
  }
}

object EvictionQuerySuite {
  private val Hints = "spark.sql.streaming.stateStore.holdfast.evictionHints"
  private val Hinted = "holdfastEvictionHintCount"

  private val batches = Sighting.batches(4, 450)

  private def counts(operator: StateOperatorProgress): Map[String, Any] = Map(
    "operator" -> operator.operatorName,
    "total" -> operator.numRowsTotal,
    "updated" -> operator.numRowsUpdated,
    "removed" -> operator.numRowsRemoved,
    "late" -> operator.numRowsDroppedByWatermark)
}
