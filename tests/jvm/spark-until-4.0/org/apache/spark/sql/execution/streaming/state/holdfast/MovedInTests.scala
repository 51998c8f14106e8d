package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming
import org.apache.spark.sql.{Encoder, SQLContext, SparkSession}

/** What tests alone use of that which Spark 4.1 moved (`Relocated` has the rest). */
object MovedInTests {
  type MemoryStream[A] = streaming.MemoryStream[A]

  def memoryStream[A](encoder: Encoder[A], spark: SparkSession): MemoryStream[A] = {
    implicit val of: Encoder[A] = encoder
    implicit val session: SQLContext = spark.sqlContext
    streaming.MemoryStream[A]
  }
}
