package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.runtime
import org.apache.spark.sql.{Encoder, SparkSession}

/** What tests alone use of that which Spark 4.1 moved (`Relocated` has the rest). */
object MovedInTests {
  type MemoryStream[A] = runtime.MemoryStream[A]

  def memoryStream[A](encoder: Encoder[A], spark: SparkSession): MemoryStream[A] =
    runtime.MemoryStream(encoder, spark)
}
