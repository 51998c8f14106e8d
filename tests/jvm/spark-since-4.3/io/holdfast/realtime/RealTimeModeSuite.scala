package io.holdfast.realtime

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.query.QuerySession
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** Queries in real-time mode with their state in Holdfast. */
class RealTimeModeSuite extends AnyFunSuite with BeforeAndAfterAll {
  import RealTimeQuery._
  import RealTimeRun._
  import RealTimeSession._

  private lazy val spark: SparkSession = RealTimeSession.start(AllowlistCheck -> "false")

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  private def inSession[A](settings: (String, String)*)(body: => A): A = {
    settings.foreach { case (name, value) => spark.conf.set(name, value) }
    try body
    finally settings.foreach { case (name, _) => spark.conf.unset(name) }
  }

  for (query <- RealTimeQuery.all)
    test(s"${query.name}: a new query writes what it writes on RocksDB") {
      TemporaryFolder.use { folder =>
        val (ours, theirs) = (folder.resolve("ours"), folder.resolve("theirs"))
        val holdfast = new RealTimeRun(spark, query, s"$ours", ours)
        val rocksDB = new RealTimeRun(spark, query, s"$theirs", theirs)
        val batches = Seq(events(0, 150), events(150, 400))
        holdfast.process(RealTime, batches: _*)
        inSession(ProviderClass -> RocksDB)(rocksDB.process(RealTime, batches: _*))

        assert(holdfast.output === rocksDB.output)
        assert(holdfast.output.size > 100)
        assert(bound(ours, ProviderClass) === Some(Provider.Holdfast))
        assert(bound(theirs, ProviderClass) === Some(RocksDB))
        assert(
          stateFiles(ours).exists(_.matches("\\d+_[0-9a-f-]+\\.(delta|families)")),
          stateFiles(ours))
        assert(!spark.conf.getAll.contains(ProviderClass))
      }
    }

  for (query <- Seq(Aggregation, Deduplication, TransformWithState))
    test(s"${query.name}: a query goes from micro-batches to real-time mode and back") {
      TemporaryFolder.use { folder =>
        val (ours, theirs) = (folder.resolve("ours"), folder.resolve("theirs"))
        val holdfast = new RealTimeRun(spark, query, s"$ours", ours)
        val rocksDB = new RealTimeRun(spark, query, s"$theirs", theirs)
        def run(turns: RealTimeRun): Unit = {
          turns.process(MicroBatches, events(0, 150))
          turns.process(RealTime, events(150, 350))
          turns.process(MicroBatches, events(350, 400))
          turns.process(RealTime, events(400, 500))
          ()
        }
        run(holdfast)
        inSession(ProviderClass -> RocksDB, FormatVersion -> "2")(run(rocksDB))
        assert(holdfast.output === rocksDB.output)
        assert(bound(ours, ProviderClass) === Some(Provider.Holdfast))
      }
    }

  test("a query that began on RocksDB stays there") {
    TemporaryFolder.use { folder =>
      val run = new RealTimeRun(spark, Aggregation, s"$folder", folder)
      inSession(ProviderClass -> RocksDB)(run.process(RealTime, events(0, 10)))
      run.process(RealTime, events(10, 20))
      assert(bound(folder, ProviderClass) === Some(RocksDB))
    }
  }

  test("a provider class beside the switch is refused with what to do") {
    TemporaryFolder.use { folder =>
      inSession(ProviderClass -> Provider.Holdfast) {
        val run = new RealTimeRun(spark, Aggregation, s"$folder", folder)
        val e = intercept[IllegalArgumentException](run.start(MicroBatches))
        assert(e.getMessage.startsWith(s"$Switch is true and $ProviderClass is set, too"))
      }
    }
  }

  test("a switch that is neither on nor off is refused") {
    TemporaryFolder.use { folder =>
      inSession(Switch -> "perhaps") {
        val run = new RealTimeRun(spark, Aggregation, s"$folder", folder)
        val e = intercept[IllegalArgumentException](run.start(MicroBatches))
        assert(e.getMessage.startsWith(s"$Switch is 'perhaps'; give true or false"))
      }
      spark.conf.set(Switch, "true")
    }
  }

  test("transformWithState says that Spark's list has to be left out of it") {
    TemporaryFolder.use { folder =>
      inSession(AllowlistCheck -> "true") {
        val run = new RealTimeRun(spark, TransformWithState, s"$folder", folder)
        val e = intercept[StreamingQueryException](run.process(RealTime, events(0, 1)))
        assert(e.getMessage.contains(s"Set $AllowlistCheck to false before the query starts"))
      }
      spark.conf.set(AllowlistCheck, "false")
    }
  }

  test("a batch looks for expired windows where there are some") {
    TemporaryFolder.use { folder =>
      val run = new RealTimeRun(spark, Windows, s"$folder", folder)
      run.process(RealTime, events(0, 500), events(500, 501))
      val done = run.process(RealTime, events(501, 502), events(502, 503))
      val progress = done.recentProgress.flatMap(_.stateOperators.headOption)
      assert(progress.map(_.customMetrics.get("holdfastEvictionHintCount").longValue).sum > 0)
      assert(progress.map(_.customMetrics.get("holdfastLookedAtCount").longValue).sum < 500)
    }
  }

  test("a batch that reaches the limit of memory fails in a sentence, and others go on") {
    TemporaryFolder.use { folder =>
      val (within, beyond) = (folder.resolve("within"), folder.resolve("beyond"))
      val other = new RealTimeRun(spark, Aggregation, s"$within", within)
      other.process(RealTime, events(0, 10))
      inSession("spark.sql.streaming.stateStore.holdfast.memoryLimit" -> "3m") {
        val run = new RealTimeRun(spark, Deduplication, s"$beyond", beyond)
        // One row reaches it, and is the last. Of more the rest would be under way when the task ends that
        // receives them, and Spark may then tell that the other one had nobody to send it to.
        val large = events(0, 1).map(_.copy(word = "x" * (4 << 20)))
        val e = intercept[StreamingQueryException](run.process(RealTime, large))
        assert(
          e.getMessage.contains("spark.sql.streaming.stateStore.holdfast.memoryLimit"),
          e.getMessage)
      }
      other.process(RealTime, events(10, 20))
      assert(other.output.size === 20)
    }
  }
}
