package io.holdfast.realtime

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.operators.KilledDriver
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** The driver of queries in real-time mode is killed in the middle of a batch that lasts, and goes on: what
  * is written from there on, and the state at the end, are those of the same on RocksDB that nobody kills.
  */
@Slow
class RealTimeKilledSuite extends AnyFunSuite {
  import RealTimeDriver._

  test("queries whose driver is killed in the middle of a long batch") {
    TemporaryFolder.use { root =>
      RealTimeDriver.kill(KilledDriver.ToBeKilled, root)
      // The batch that was under way has left nothing.
      queries.foreach { query =>
        val checkpoint = checkpointOf(root, query, Provider.Holdfast)
        val committed = checkpoint.resolve("commits").toFile.list().count(_.forall(_.isDigit))
        assert(committed > 0)
        assert(RealTimeSession.versions(checkpoint) === (1L to committed.toLong))
      }
      RealTimeDriver.kill(KilledDriver.ToTheEnd, root)
      queries.foreach { query =>
        val killed = told(root, query, Provider.Holdfast)
        assert(killed === told(root, query, RealTimeSession.RocksDB), query.name)
        assert(killed.count(_.startsWith("state")) > 100, query.name)
        assert(killed.count(_.startsWith("output")) > 100, query.name)
      }
    }
  }
}

/** The driver process of [[RealTimeKilledSuite]]. */
object RealTimeDriver extends KilledDriver {
  import RealTimeQuery._
  import RealTimeRun._

  val queries: Seq[RealTimeQuery] = Seq(Aggregation, Deduplication, TransformWithState)

  // Events of batches that were committed, of the one in whose midst the driver dies, and all.
  private val (committed, underWay, all) = (300, 600, 700)

  def checkpointOf(root: Path, query: RealTimeQuery, provider: String): Path =
    root.resolve(nameOf(query, provider))

  def told(root: Path, query: RealTimeQuery, provider: String): Seq[String] =
    Files.readAllLines(toldIn(root, query, provider)).asScala.toSeq

  private def toldIn(root: Path, query: RealTimeQuery, provider: String): Path =
    root.resolve(s"${nameOf(query, provider)}.txt")

  private def nameOf(query: RealTimeQuery, provider: String): String =
    s"${query.name}-${provider.split('.').last}"

  override protected def run(stage: String, root: Path, others: Seq[String]): Unit = {
    val spark = RealTimeSession.start(RealTimeSession.AllowlistCheck -> "false")
    if (stage == KilledDriver.ToBeKilled) queries.foreach(toTheMiddle(spark, root, _))
    else {
      queries.foreach(toTheEnd(spark, root, _))
      spark.conf.set(RealTimeSession.ProviderClass, RealTimeSession.RocksDB)
      // Without it Spark's reader looks for files of format 1 there.
      spark.conf.set(RealTimeSession.FormatVersion, "2")
      queries.foreach(undisturbed(spark, root, _))
    }
  }

  private def toTheMiddle(spark: SparkSession, root: Path, query: RealTimeQuery): Unit = {
    val checkpoint = checkpointOf(root, query, Provider.Holdfast)
    val run = new RealTimeRun(spark, query, query.name, checkpoint)
    run.process(RealTime, events(0, committed))
    run.add(events(committed, underWay))
    val before = run.output.size
    run.start(Trigger.RealTime("1 hour"))
    // Half of what comes of them, which is fewer with deduplication.
    RealTimeOutput.await(query.name, before + 50)
  }

  private def toTheEnd(spark: SparkSession, root: Path, query: RealTimeQuery): Unit = {
    val checkpoint = checkpointOf(root, query, Provider.Holdfast)
    val run = new RealTimeRun(spark, query, query.name, checkpoint)
    run.addSeen(events(0, committed))
    run.add(events(committed, underWay))
    run.process(RealTime, events(underWay, all))
    tell(spark, root, query, Provider.Holdfast, run.output)
  }

  private def undisturbed(spark: SparkSession, root: Path, query: RealTimeQuery): Unit = {
    val name = s"${query.name} undisturbed"
    val checkpoint = checkpointOf(root, query, RealTimeSession.RocksDB)
    val run = new RealTimeRun(spark, query, name, checkpoint)
    run.process(RealTime, events(0, committed))
    val before = run.output
    run.process(RealTime, events(committed, all))
    tell(spark, root, query, RealTimeSession.RocksDB, run.output.diff(before))
  }

  private def tell(
      spark: SparkSession,
      root: Path,
      query: RealTimeQuery,
      provider: String,
      output: Seq[String]): Unit = {
    val options =
      if (query == TransformWithState) Map("stateVarName" -> "total") else Map.empty[String, String]
    val state = spark.read
      .format("statestore")
      .options(options)
      .load(checkpointOf(root, query, provider).toString)
      .select("key", "value")
      .collect()
      .toSeq
      .map(row => s"state $row")
    Files.write(
      toldIn(root, query, provider),
      (state.sorted ++ output.sorted.map(row => s"output $row")).asJava)
    ()
  }
}
