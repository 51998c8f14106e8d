package io.holdfast

import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.{SparkSession, functions}

/** The Scala of README.md, which a test of Python holds against it: it compiles on every line. */
object ReadmeExample {
  // format: off
  def main(): StreamingQuery = {
    val spark = SparkSession.builder().appName("clicks")
      .config("spark.sql.streaming.stateStore.providerClass", "io.holdfast.HoldfastStateStoreProvider")
      .config("spark.plugins", "io.holdfast.HoldfastPlugin")
      .config("spark.sql.extensions", "io.holdfast.HoldfastExtensions")
      .getOrCreate()

    val clicks = spark.readStream.schema("user string, time timestamp").json("clicks")
    val late = clicks.withWatermark("time", "10 minutes")
    val counts = late.groupBy(functions.window(late("time"), "1 hour"), late("user")).count()
    val rows = counts.writeStream.format("parquet").option("checkpointLocation", "checkpoint")
    val query = rows.start("counts")
    query
  }
  // format: on
}
