package io.holdfast.query

import java.sql.Timestamp

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{count, max, sum}

/** What the queries read. */
final case class Event(name: String, at: Timestamp, amount: Long, note: String)

object Event {

  /** The events of a batch: names come back in later batches, one of them is null, and time goes on
    * by 8 seconds a batch.
    */
  def ofBatch(batch: Int): Seq[Event] = (0 until 30).map { i =>
    val name = if (i % 7 == 0) null else s"name ${(i * i + batch) % 11}"
    val at = new Timestamp((batch * 8 + i % 5) * 1000L)
    Event(name, at, batch * 100L + i, "n" * (i % 9 * batch))
  }
}

/** A query that keeps state.
  *
  * @param codec
  *   the compression codec of its state files
  * @param removesRows
  *   whether the watermark takes rows out of its state
  */
final case class StatefulQuery(
    name: String,
    outputMode: String,
    codec: String,
    removesRows: Boolean = false)(val on: DataFrame => DataFrame) {
  override def toString: String = s"$name in $outputMode mode ($codec files)"
}

object StatefulQuery {
  private val totals: DataFrame => DataFrame =
    _.groupBy("name").agg(count("*"), sum("amount"), max("note"))

  private val distinct: DataFrame => DataFrame =
    _.withWatermark("at", "10 seconds").dropDuplicates("name", "at")

  val all: Seq[StatefulQuery] = Seq(
    StatefulQuery("aggregation", "update", "lz4")(totals),
    StatefulQuery("aggregation", "complete", "zstd")(totals),
    StatefulQuery("deduplication", "append", "snappy", removesRows = true)(distinct))
}
