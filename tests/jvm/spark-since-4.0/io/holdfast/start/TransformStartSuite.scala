package io.holdfast.start

import org.apache.spark.sql.execution.streaming.state.holdfast.MovedInTests.MemoryStream
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TTLConfig, TimeMode}
import org.apache.spark.sql.streaming.{TimerValues, ValueState}
import org.apache.spark.sql.{DataFrame, Encoder, Encoders}
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, TemporaryFolder}

/** What a session with the extension says of a query with `transformWithState` when it is started. */
class TransformStartSuite extends AnyFunSuite with QueryStarts {
  import TransformStartSuite._

  private def totals(input: MemoryStream[String]): DataFrame = {
    val text: Encoder[String] = Encoders.STRING
    implicit val number: Encoder[Long] = Encoders.scalaLong
    input
      .toDS()
      .groupByKey(identity[String] _)(text)
      .transformWithState(new Total, TimeMode.None(), OutputMode.Update())
      .toDF()
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
}

object TransformStartSuite {
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
