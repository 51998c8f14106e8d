package io.holdfast.start

import java.nio.file.Path

import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.MemoryStream
import org.apache.spark.sql.functions.count
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery, TTLConfig, TimeMode, TimerValues}
import org.apache.spark.sql.streaming.{StatefulProcessor, ValueState}
import org.apache.spark.sql.{DataFrame, Encoder, Encoders, SparkSession}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.HoldfastExtensions
import io.holdfast.query.{QueryCheckpoint, QuerySession}
import io.holdfast.testkit.{LoggedWarnings, Provider, TemporaryFolder}

/** What a session with the extension says of a query when it is started. */
class QueryStartSuite extends AnyFunSuite with BeforeAndAfterAll {
  import QueryStartSuite._

  private lazy val spark: SparkSession =
    QuerySession.start(
      "QueryStartSuite",
      "spark.sql.extensions" -> classOf[HoldfastExtensions].getName)

  override protected def afterAll(): Unit = spark.stop()

  private val provider = SQLConf.STATE_STORE_PROVIDER_CLASS.key
  private val memoryLimit = "spark.sql.streaming.stateStore.holdfast.memoryLimit"

  private def inSession[A](settings: (String, String)*)(body: => A): A = {
    settings.foreach { case (name, value) => spark.conf.set(name, value) }
    try body
    finally settings.foreach { case (name, _) => spark.conf.unset(name) }
  }

  private def words: MemoryStream[String] = MemoryStream(Encoders.STRING, spark)

  private def start(rows: DataFrame, checkpoint: Path): StreamingQuery = rows.writeStream
    .outputMode(OutputMode.Update)
    .option("checkpointLocation", checkpoint.toString)
    .format("noop")
    .start()

  private def runOnce(rows: DataFrame, checkpoint: Path): Unit = {
    val query = start(rows, checkpoint)
    try query.processAllAvailable()
    finally query.stop()
  }

  private def counts(input: MemoryStream[String]): DataFrame =
    input.toDF().groupBy("value").agg(count("*"))

  private def totals(input: MemoryStream[String]): DataFrame = {
    val text: Encoder[String] = Encoders.STRING
    implicit val number: Encoder[Long] = Encoders.scalaLong
    input
      .toDS()
      .groupByKey(identity[String] _)(text)
      .transformWithState(new Total, TimeMode.None(), OutputMode.Update())
      .toDF()
  }

  private def warnings(body: => Any): Seq[String] = LoggedWarnings.of(classOf[QueryStart])(body)

  test("a new query with an operator that Holdfast has not is refused, and its plan is not") {
    TemporaryFolder.use { folder =>
      inSession(provider -> Provider.Holdfast) {
        val query = totals(words)
        val e = intercept[UnsupportedOperationException](start(query, folder))
        assert(e.getMessage.startsWith("The query uses transformWithState, which Holdfast"))
        assert(e.getMessage.endsWith(s"Run this query with another $provider"))
      }
    }
  }

  test("a query that its checkpoint binds to RocksDB goes on with any operator, under one warning") {
    TemporaryFolder.use { folder =>
      val input = words
      input.addData("a", "b")
      inSession(provider -> RocksDB)(runOnce(totals(input), folder))
      inSession(provider -> Provider.Holdfast) {
        input.addData("c")
        val said = warnings(runOnce(totals(input), folder))
        assert(said.size == 1, said)
        assert(said.head.startsWith(s"The query goes on with $RocksDB, which its checkpoint"))
        assert(said.head.contains("although the session asks for Holdfast"))
        assert(said.head.endsWith(s"holdfast migrate $folder --to holdfast --apply"))
      }
    }
  }

  test("a location of all checkpoints is as good as one of the query's own") {
    TemporaryFolder.use { folder =>
      val input = words
      def run(): Unit = {
        val query = counts(input).writeStream
          .outputMode(OutputMode.Update)
          .queryName("counts")
          .format("noop")
          .start()
        try query.processAllAvailable()
        finally query.stop()
      }
      inSession("spark.sql.streaming.checkpointLocation" -> folder.toString) {
        input.addData("a")
        inSession(provider -> Provider.Spark)(run())
        inSession(provider -> Provider.Holdfast) {
          val said = warnings(run())
          assert(
            said.size == 1 && said.head.contains(s"migrate $folder/counts --to holdfast"),
            said)
        }
      }
    }
  }

  test("a query without state and one that is on Holdfast start without a word") {
    TemporaryFolder.use { folder =>
      val input = words
      input.addData("a")
      val said = warnings {
        runOnce(input.toDF(), folder.resolve("none"))
        inSession(provider -> Provider.Holdfast) {
          runOnce(counts(input), folder.resolve("counts"))
          runOnce(counts(input), folder.resolve("counts"))
        }
        // What is chosen on purpose is not questioned.
        inSession(provider -> Provider.Spark)(runOnce(counts(input), folder.resolve("spark")))
      }
      assert(said.isEmpty)
    }
  }

  test("that the provider class was forgotten is said once") {
    TemporaryFolder.use { folder =>
      val input = words
      input.addData("a")
      val said = warnings {
        runOnce(counts(input), folder.resolve("one"))
        runOnce(counts(input), folder.resolve("two"))
      }
      assert(said.size == 1, said)
      assert(said.head.contains(s"because $provider is not set"))
      assert(said.head.contains(s"Set it to ${Provider.Holdfast}"))
    }
  }

  for ((name, why) <- Seq(
      "io.holdfast.HoldfastStateStoreProvidr" -> "there is no such class",
      "java.lang.String" -> "which is no StateStoreProvider"))
    test(s"a new query is not bound to $name") {
      TemporaryFolder.use { folder =>
        inSession(provider -> name) {
          val e = intercept[IllegalArgumentException](start(counts(words), folder))
          assert(e.getMessage.contains(s"$provider is '$name'") && e.getMessage.contains(why))
          assert(e.getMessage.contains(s"Holdfast is ${Provider.Holdfast}"))
        }
        assert(!folder.resolve("offsets").toFile.exists())
      }
    }

  test("a checkpoint that is bound to a class that is not there says how to bind it to another") {
    TemporaryFolder.use { folder =>
      val input = words
      input.addData("a")
      inSession(provider -> Provider.Holdfast)(runOnce(counts(input), folder))
      val typo = Provider.Holdfast.dropRight(1)
      new QueryCheckpoint(folder).switchProvider(Provider.Holdfast, typo)
      inSession(provider -> Provider.Holdfast) {
        val e = intercept[IllegalArgumentException](start(counts(input), folder))
        assert(e.getMessage.contains(s"$folder is bound to the state store provider '$typo', and"))
        assert(e.getMessage.contains(s"holdfast migrate $folder --from $typo --to holdfast"))
      }
    }
  }

  for ((name, value, sentence) <- Seq(
      (memoryLimit, "much", s"$memoryLimit is 'much'; give bytes such as 8g"),
      (memoryLimit, "9000t", s"$memoryLimit is '9000t', and the heap of an executor has only"),
      (memoryLimit + "s", "1g", s"${memoryLimit}s is no setting of Holdfast")))
    test(s"$name of $value is refused before the query begins") {
      TemporaryFolder.use { folder =>
        inSession(provider -> Provider.Holdfast, name -> value) {
          val e = intercept[IllegalArgumentException](start(counts(words), folder))
          assert(e.getMessage.startsWith(sentence))
        }
      }
    }
}

object QueryStartSuite {
  private val RocksDB =
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  /** How often a word has come. */
  final class Total extends StatefulProcessor[String, String, Long] {
    @transient private var total: ValueState[Long] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
      total = getHandle.getValueState("total", Encoders.scalaLong, TTLConfig.NONE)

    override def handleInputRows(
        key: String,
        rows: Iterator[String],
        timerValues: TimerValues): Iterator[Long] = {
      total.update(Option(total.get()).fold(0L)(_.longValue) + rows.size)
      Iterator.single(total.get())
    }
  }
}
