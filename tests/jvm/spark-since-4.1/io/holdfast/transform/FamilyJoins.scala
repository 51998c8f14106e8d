package io.holdfast.transform

import java.nio.file.{Files, Path}

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.memoryStream
import org.apache.spark.sql.functions.{crc32, expr}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}
import org.apache.spark.sql.{DataFrame, Encoders, SparkSession}
import org.scalatest.{BeforeAndAfterAll, Tag}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.query.{Event, QueryCheckpoint, QuerySession}
import io.holdfast.testkit.{Provider, TemporaryFolder}

/** Joins of streams whose rows are in column families, on Holdfast and on Spark's RocksDB provider. Spark
  * 4.1 (format 3) and 4.2 (formats 3 and 4) let any provider have them; 4.3 sets the format of a new
  * query back to 2, and goes on with what a checkpoint says.
  *
  * @param begunOnRocksDB
  *   whether the first batch of each query is planned on RocksDB, and comes to nothing
  */
abstract class FamilyJoins(joins: Seq[FamilyJoins.Join], begunOnRocksDB: Boolean, runs: Tag*)
    extends AnyFunSuite
    with BeforeAndAfterAll {
  import FamilyJoins._

  private lazy val spark: SparkSession = QuerySession.start("FamilyJoins")

  override protected def afterAll(): Unit = QuerySession.stop(spark)

  private def run(provider: String, checkpoint: Path, join: Join): Map[Long, Seq[String]] = {
    // One input for both sides: data of two would come in one batch or in two.
    val input = memoryStream(Encoders.product[Event], spark)
    def side(events: DataFrame, name: String) =
      events.withColumn("number", crc32(events("name"))).withWatermark("at", "10 seconds").as(name)
    val joined = side(input.toDF(), "l")
      .join(
        side(input.toDF().filter("amount % 3 = 0"), "r"),
        expr(s"l.${join.key} = r.${join.key} and r.at between l.at - interval 6 seconds and l.at"),
        join.kind)
      .selectExpr(join.columns: _*)
    if (begunOnRocksDB) {
      input.addData(Event.ofBatch(0))
      begin(joined, checkpoint, provider)
    }
    spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, provider)
    val outputs = mutable.Map.empty[Long, Seq[String]]
    (0 until Batches).grouped(BatchesPerStart).foreach { batches =>
      val query = start(joined, checkpoint)((rows, batch) => outputs(batch) = shown(rows))
      try {
        batches.foreach { batch =>
          val events = Event.ofBatch(batch)
          // Some keys have as many rows at one time as fill several parts of a list.
          val many = events.take(2).flatMap(event => Seq.tabulate(40)(i => of(event, i)))
          input.addData(events ++ many)
          query.processAllAvailable()
        }
        val metrics = query.lastProgress.stateOperators.head.customMetrics.keySet.toString
        assert(metrics.contains("holdfast") == (provider == Provider.Holdfast))
      } finally query.stop()
    }
    outputs.toMap
  }

  // What Spark writes of its first batch pins the format of the join. No state is there yet.
  private def begin(joined: DataFrame, checkpoint: Path, provider: String): Unit = {
    spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, RocksDB)
    val query = start(joined, checkpoint)((_, _) => throw new IllegalStateException(ToNothing))
    val failure = intercept[StreamingQueryException](query.processAllAvailable())
    assert(failure.getMessage.contains(ToNothing))
    if (provider != RocksDB) new QueryCheckpoint(checkpoint).switchProvider(RocksDB, provider)
  }

  private def start(joined: DataFrame, checkpoint: Path)(
      write: (DataFrame, Long) => Unit): StreamingQuery =
    joined.writeStream
      .option("checkpointLocation", checkpoint.toString)
      .foreachBatch(write)
      .start()

  private def of(event: Event, number: Int): Event =
    event.copy(amount = event.amount + 1000L * number)

  private def shown(rows: DataFrame): Seq[String] = rows.collect().map(_.toString).toSeq.sorted

  // By its side Spark 4.2 would read a join of format 4 as if keys had two times.
  private def state(checkpoint: Path, join: Join, side: String): Seq[String] = {
    val of =
      if (join.format == 4) "storeName" -> s"$side-keyWithTsToValues" else "joinSide" -> side
    shown(spark.read.format("statestore").option(of._1, of._2).load(checkpoint.toString))
  }

  joins.foreach { join =>
    test(s"$join says in every batch what it says on RocksDB, and keeps the same", runs: _*) {
      spark.conf.set("spark.sql.streaming.join.stateFormatVersion", join.format.toLong)
      spark.conf.set("spark.sql.streaming.join.stateFormatV4.enabled", join.format == 4)
      TemporaryFolder.use { folder =>
        val (ours, theirs) = (folder.resolve("ours"), folder.resolve("theirs"))
        val found = run(Provider.Holdfast, ours, join)
        assert(found == run(RocksDB, theirs, join))
        assert(found.values.map(_.size).sum > 50)
        // A join of format 2 has four stores, each in a folder.
        assert(!Files.exists(ours.resolve("state/0/0/left-keyToNumValues")))
        Seq("left", "right").foreach { side =>
          val kept = state(ours, join, side)
          assert(kept == state(theirs, join, side))
          assert(kept.nonEmpty)
        }
      }
    }
  }
}

object FamilyJoins {

  /** A join of two streams by a column and a range of times.
    *
    * @param format
    *   of its state
    */
  final case class Join(format: Int, kind: String, key: String) {
    def columns: Seq[String] =
      Seq("l.name", "l.at", "l.amount") ++ Seq("r.at", "r.amount").filter(_ => kind != "left_semi")

    override def toString: String = s"a $kind join of format $format by $key"
  }

  val representative: Seq[Join] =
    Seq(Join(4, "left_outer", "number"), Join(4, "left_semi", "name"), Join(3, "inner", "name"))

  val all: Seq[Join] = for {
    format <- Seq(3, 4)
    kind <- Seq("inner", "left_outer", "left_semi")
    key <- Seq("number", "name")
  } yield Join(format, kind, key)

  val others: Seq[Join] = all.diff(representative)

  /** One of each format, where Spark has to be told of it by a checkpoint. */
  val pinned: Seq[Join] = Seq(Join(4, "left_outer", "number"), Join(3, "inner", "name"))

  val othersPinned: Seq[Join] = all.diff(pinned)

  private val RocksDB =
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  private val ToNothing = "this batch comes to nothing"

  private val Batches = 6
  private val BatchesPerStart = 3
}
