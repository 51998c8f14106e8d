package io.holdfast.eviction

import java.nio.file.Path
import java.sql.Timestamp
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.holdfast.FakeTask
import org.apache.spark.sql.functions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{Dataset, SparkSession}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.HoldfastExtensions
import io.holdfast.query.QuerySession
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** What must not be taken for a walk of an eviction, and what one must not miss. */
@Slow
class EvictionHazardsSuite extends AnyFunSuite with BeforeAndAfterAll {
  import EvictionHazardsSuite._
  import EvictionRun.metric

  private lazy val spark: SparkSession = SparkSession
    .builder()
    .config("spark.sql.extensions", classOf[HoldfastExtensions].getName)
    .config(SQLConf.STATE_STORE_PROVIDER_CLASS.key, Provider.Holdfast)
    .config(QuerySession.NotCompiled)
    .config(SQLConf.SHUFFLE_PARTITIONS.key, QuerySession.Partitions)
    .config(
      SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key,
      classOf[io.holdfast.HoldfastCheckpointFileManager].getName)
    // A task may be tried twice.
    .master("local[2,2]")
    .appName("EvictionHazardsSuite")
    .getOrCreate()

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  private def run(query: EvictionQuery, folder: Path, batches: Seq[Sighting]*)(
      beside: Long => Unit): EvictionRun = {
    val run = new EvictionRun(spark, query, folder)
    run.process(batches)(beside)
    run
  }

  private def query(name: String, mode: String = "append"): EvictionQuery =
    EvictionQuery.all.find(query => query.name == name && query.mode == mode).get

  private def at(second: Int, name: String = "a", side: Int = 0): Sighting =
    Sighting(side, name, new Timestamp(second * 1000L), second.toLong)

  private def nothing: Long => Unit = _ => ()

  test("a row that comes late and leaves in its own batch is said") {
    TemporaryFolder.use { folder =>
      // The watermark is at 90 when the row of second 33 comes, and late rows are still those before 0.
      val emptyBatches = SQLConf.STREAMING_NO_DATA_MICRO_BATCHES_ENABLED.key
      spark.conf.set(emptyBatches, false)
      val found =
        try run(query("windows"), folder, Seq(at(100)), Seq(at(33, "late")))(nothing)
        finally spark.conf.unset(emptyBatches)
      assert(found.output.values.flatten.count(_.contains("late")) == 1)
      assert(found.progress.values.flatten.map(_.numRowsRemoved).sum == 1)
      assert(found.progress.values.flatten.map(metric(_, Hinted)).sum > 0)
    }
  }

  for (name <- Seq("deduplication", "groups by time", "inner join"))
    test(s"rows of $name that have no time, and so never leave, are not looked at again and again") {
      TemporaryFolder.use { folder =>
        val timeless = Seq(0, 1).map(side => Sighting(side, "a", null, 1L))
        val rows = timeless ++ Seq(0, 1).map(side => at(1000, side = side))
        val found = run(query(name), folder, rows, Seq(at(1001)), Seq(at(1002)))(nothing)
        val last = found.progress.maxBy(_._1)._2
        assert(last.map(metric(_, Hinted)).sum > 0)
        assert(last.map(metric(_, "holdfastLookedAtCount")).sum == 0)
        assert(found.progress.values.flatten.map(_.numRowsRemoved).sum == 0)
      }
    }

  test("each of two chained operators has the watermark of its own") {
    TemporaryFolder.use { folder =>
      // One row in each span of 20 seconds: its window of 5 seconds is said before the one of 20.
      val rows = (1 to 12).map(batch => Seq(at(batch * 20)))
      val found = run(query("windows of windows"), folder, rows: _*)(nothing)
      val said = found.output.toSeq.sortBy(_._1).flatMap(_._2)
      assert(said.size == 10 && said.distinct == said, said)
      (1 to 10).zip(said).foreach { case (batch, row) => assert(row.endsWith(s",${batch * 20}]")) }
      assert(found.progress.values.exists(operators =>
        operators.size == 2 && operators.forall(metric(_, Hinted) > 0)))
    }
  }

  for (name <- StateReaders.queries)
    test(s"a reader of the state of $name in the middle of a batch finds all of it") {
      TemporaryFolder.use { folder =>
        val sides = Seq(at(1), at(2), at(3, side = 1), at(100, "b"), at(100, side = 1))
        val read = mutable.Map[Long, Long]()
        val found = run(query(name), folder, sides, Seq(at(101)), Seq(at(102)))(batch =>
          if (batch > 0) {
            val reader = spark.read.format("statestore")
            val state =
              if (name == "windows") reader else reader.option("joinSide", "left")
            read(batch) = state.load(folder.toString).count()
          })
        // Before the first batch with a watermark the state has what the batch before has left.
        assert(read(1) == 3L, read)
        assert(found.progress(1).map(metric(_, Hinted)).sum > 0)
        assert(found.progress(1).map(_.numRowsRemoved).sum > 0)
      }
    }

  test("a query that is started within a batch of another has hints of its own") {
    TemporaryFolder.use { folder =>
      val rows = Seq(Seq(at(0), at(50)), Seq(at(100)), Seq(at(150)))
      val expected = run(query("windows"), folder.resolve("alone"), rows: _*)(nothing).output
      val inner = new ConcurrentLinkedQueue[EvictionRun]
      val outer =
        run(query("deduplication"), folder.resolve("outer"), Seq(at(1000)), Seq(at(2000))) {
          batch =>
            inner.add(run(query("windows"), folder.resolve(s"inner-$batch"), rows: _*)(nothing))
            ()
        }
      assert(outer.output.values.flatten.size == 2)
      assert(outer.progress.values.flatten.map(_.numRowsRemoved).sum == 1)
      assert(inner.size == outer.output.size)
      inner.asScala.foreach(run => assert(run.output == expected))
    }
  }

  for (name <- Seq("windows", "left outer join", "sessions"))
    test(s"a task of $name that is tried again removes and says the same") {
      TemporaryFolder.use { folder =>
        val rows =
          Seq(
            (1 to 40).map(second => at(second, s"name $second")),
            Seq(at(500), at(500, side = 1)),
            Seq(at(501)))
        val failures = new AtomicInteger
        EvictionHazardsSuite.failing = Some(failures)
        val original = query(name)
        val flaky = original.copy()((rows: Dataset[Sighting]) =>
          original.on(rows).filter(failingOnce(lit(1)) === 1))
        val found =
          try run(flaky, folder.resolve("again"), rows: _*)(nothing)
          finally EvictionHazardsSuite.failing = None
        val expected = run(original, folder.resolve("once"), rows: _*)(nothing)
        assert(failures.get > 0)
        assert(found.output == expected.output)
        assert(expected.output.values.flatten.size >= 40)
        assert(found.stateFiles == expected.stateFiles)
      }
    }

  test("batch queries and plans that are only shown leave nothing in their thread") {
    TemporaryFolder.use { folder =>
      spark.range(100).groupBy(col("id") % 7).count().collect()
      val input = new EvictionRun(spark, query("windows"), folder)
      input.explain()
      assert(!FakeTask.propertiesNow(spark.sparkContext).exists(_.contains("holdfast")))
    }
  }
}

object EvictionHazardsSuite {
  private val Hinted = "holdfastEvictionHintCount"

  /** Counts the failures of the first attempts of tasks, if those are to fail. */
  @volatile private var failing: Option[AtomicInteger] = None

  private val failingOnce = udf { (one: Int) =>
    failing.foreach { failures =>
      if (TaskContext.get().attemptNumber() == 0) {
        failures.incrementAndGet()
        throw new IllegalStateException("the first attempt fails when it has said a row")
      }
    }
    one
  }
}
