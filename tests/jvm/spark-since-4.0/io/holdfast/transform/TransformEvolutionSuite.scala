package io.holdfast.transform

import java.nio.file.Path

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.memoryStream
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, StreamingQueryException, TimeMode}
import org.apache.spark.sql.{Dataset, Encoder, Encoders, SparkSession}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.holdfast.HoldfastExtensions
import io.holdfast.query.{Event, QuerySession}
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** Queries with `transformWithState` that are stopped, changed and started again, on Holdfast and on
  * Spark's RocksDB provider.
  */
@Slow
class TransformEvolutionSuite extends AnyFunSuite with BeforeAndAfterAll {
  import TransformEvolutionSuite._

  private lazy val spark: SparkSession =
    QuerySession.start(
      "TransformEvolutionSuite",
      "spark.sql.extensions" -> classOf[HoldfastExtensions].getName,
      // Without it RocksDB has no changes to show.
      "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> "true")

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  /** Runs one query after the other from a checkpoint, for some batches each. */
  private def run(
      provider: String,
      checkpoint: Path,
      encoding: String,
      processors: Seq[Noting[_]]): Map[Long, Seq[String]] = {
    implicit val text: Encoder[String] = Encoders.STRING
    spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, provider)
    spark.conf.set(SQLConf.STREAMING_STATE_STORE_ENCODING_FORMAT.key, encoding)
    val input = memoryStream(Encoders.product[Event], spark)
    val outputs = mutable.Map.empty[Long, Seq[String]]
    val keep: (Dataset[String], Long) => Unit = (rows, batch) =>
      outputs(batch) = rows.collect().toSeq.sorted
    processors.zipWithIndex.foreach { case (processor, i) =>
      val query = input
        .toDS()
        .filter(_.name != null)
        .groupByKey(_.name)
        .transformWithState(processor, TimeMode.None(), OutputMode.Update())
        .writeStream
        .outputMode(OutputMode.Update)
        .option("checkpointLocation", checkpoint.toString)
        .foreachBatch(keep)
        .start()
      try
        (0 until BatchesPerStart).foreach { batch =>
          input.addData(Event.ofBatch(i * BatchesPerStart + batch).take(20 - 3 * i))
          query.processAllAvailable()
        }
      finally query.stop()
    }
    outputs.toMap
  }

  private def both[A](run: (String, Path) => A): (A, A) = TemporaryFolder.use { folder =>
    val found = run(Provider.Holdfast, folder.resolve("ours"))
    (found, run(RocksDB, folder.resolve("theirs")))
  }

  private def state(checkpoint: Path, name: String, batch: Option[Int] = None): Set[String] =
    spark.read
      .format("statestore")
      .option("stateVarName", name)
      .options(batch.map("batchId" -> _.toString).toMap)
      .load(checkpoint.toString)
      .collect()
      .map(_.toString)
      .toSet

  /** The last change of each key in each batch up to one, or the newest, and all values that were
    * appended.
    */
  private def changes(checkpoint: Path, name: String, until: Option[Int] = None): Set[Seq[Any]] = {
    val feed = spark.read
      .format("statestore")
      .option("stateVarName", name)
      .option("readChangeFeed", "true")
      .option("changeStartBatchId", "0")
      .options(until.map("changeEndBatchId" -> _.toString).toMap)
      .load(checkpoint.toString)
    feed
      .collect()
      .map(_.toSeq)
      .groupBy(row => if (row(1) == "append") row else row.patch(row.size - 2, Nil, 1))
      .map { case (_, rows) => rows.last.map(String.valueOf(_: Any)) }
      .toSet
  }

  private val first = new Noting(event => First(event.amount.toInt, event.note))
  private val second =
    new Noting(event => Second(event.note, Some(event.amount), event.amount.toInt))
  private val third = new Noting(event => Third(event.amount, Inner(event.name, None)))
  private val fourth =
    new Noting(event => Fourth(event.amount, DeepInner(event.name, None, Seq(event.note))))

  // Each change is made of what the one before it has made.
  private val changed: Seq[(String, Seq[Noting[_]])] = Seq(
    "new columns, columns that go or come in another order, and wider types" ->
      Seq(first, second, third),
    "columns of columns" -> Seq(third, fourth))

  private val refused: Seq[(String, Seq[Noting[_]])] = Seq(
    "new columns, and columns in another order" -> Seq(first, second),
    "columns that go, and wider types" -> Seq(second, third),
    "columns of columns" -> Seq(third, fourth))

  changed.foreach { case (what, processors) =>
    test(s"$what are made out of what there is, as on RocksDB, with Avro") {
      val (found, expected) = both { (provider, checkpoint) =>
        val output = run(provider, checkpoint, "avro", processors)
        // As they are now, and as they were before a change.
        val states = for {
          batch <- None +: (1 until processors.size).map(i => Some(i * BatchesPerStart - 1))
          name <- Seq("last", "all", "byNote")
        } yield state(checkpoint, name, batch)
        val shown = Seq("last", "all", "byNote").map(changes(checkpoint, _))
        (output, states, shown)
      }
      assert(found == expected)
      assert(found._1.size == processors.size * BatchesPerStart)
      assert((found._2 ++ found._3).forall(_.nonEmpty))
    }
  }

  refused.foreach { case (what, processors) =>
    test(s"$what are refused as on RocksDB, without Avro") {
      val (found, expected) = both { (provider, checkpoint) =>
        intercept[StreamingQueryException](
          run(provider, checkpoint, "unsaferow", processors)).getCause.getMessage
          .takeWhile(_ != ']')
      }
      assert(found == expected)
      assert(found.contains("STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"))
    }
  }

  private val cleared: Seq[Noting[_]] = Seq(
    first,
    new Noting(event => First(event.amount.toInt, event.note), clears = true),
    new Noting(event => First(event.amount.toInt, event.note), clears = true))

  test(
    "changes from before values got other columns are shown as on RocksDB, also if all were gone") {
    val (found, expected) = both { (provider, checkpoint) =>
      val output = run(provider, checkpoint, "avro", cleared :+ second)
      // The query's own encoding is what counts.
      spark.conf.set(SQLConf.STREAMING_STATE_STORE_ENCODING_FORMAT.key, "unsaferow")
      val empty = Seq("last", "all", "byNote").map(state(checkpoint, _, Some(5)))
      val shown = for {
        until <- Seq(None, Some(1), Some(6))
        name <- Seq("last", "all", "byNote")
      } yield changes(checkpoint, name, until)
      (output, empty, shown)
    }
    assert(found == expected)
    assert(found._2.forall(_.isEmpty))
    assert(found._3.forall(_.exists(_.head == "0")))
  }

  test("changes from before values got other types are refused without Avro, where all were gone") {
    TemporaryFolder.use { checkpoint =>
      val check = SQLConf.STATE_SCHEMA_CHECK_ENABLED.key
      spark.conf.set(check, "false")
      try {
        val last = new Noting(event => Texts(event.note))
        val _ = run(Provider.Holdfast, checkpoint, "unsaferow", cleared :+ last)
      } finally spark.conf.unset(check)
      val e = intercept[Exception](changes(checkpoint, "last"))
      val causes = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null)
      // Spark 4.2 defines the family in a store before it reads the feed, which has rows that do not fit.
      val refusals =
        Seq("STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE", "cannot show values that were written as")
      assert(causes.exists(cause => refusals.exists(cause.getMessage.contains(_))))
    }
  }

  test("a column that comes back is null in rows from before it went, where RocksDB finds it") {
    val (found, expected) = both { (provider, checkpoint) =>
      run(
        provider,
        checkpoint,
        "avro",
        Seq(
          new Noting(event => Returning(event.amount, Some(event.note))),
          new Noting(event => Without(event.amount)),
          new Noting(event => Returning(event.amount, Some(event.note)))))
      state(checkpoint, "all")
    }
    val before = expected -- found
    assert(before.nonEmpty)
    assert(found -- expected == before.map(_.replaceFirst(",n*]", ",null]")))
  }

  Seq("avro", "unsaferow").foreach { encoding =>
    test(s"variables come and go as on RocksDB, with $encoding") {
      def noting(variables: String*) =
        new Noting(event => First(event.amount.toInt, event.note), variables.toSet)
      val (found, expected) = both { (provider, checkpoint) =>
        val output = run(
          provider,
          checkpoint,
          encoding,
          Seq(noting("last", "all"), noting("all", "byNote"), noting("last", "byNote")))
        val shown = Seq("last", "byNote").map(changes(checkpoint, _).nonEmpty)
        (output, Seq("last", "byNote").map(state(checkpoint, _)), shown)
      }
      assert(found == expected)
      assert(found._2.forall(_.nonEmpty))
    }
  }
}

object TransformEvolutionSuite {
  val RocksDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  private val BatchesPerStart = 2

  final case class First(amount: Int, note: String)
  final case class Second(note: String, more: Option[Long], amount: Int)
  final case class Third(amount: Long, inner: Inner)
  final case class Fourth(amount: Long, inner: DeepInner)
  final case class Texts(note: String)
  final case class Returning(amount: Long, note: Option[String])
  final case class Without(amount: Long)
  final case class Inner(name: String, size: Option[Int])
  final case class DeepInner(name: String, size: Option[Int], notes: Seq[String])
}
