package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming

/** What tests alone use of that which Spark 4.1 moved (`Relocated` has the rest). */
object MovedInTests {
  type MemoryStream[A] = streaming.MemoryStream[A]
  val MemoryStream: streaming.MemoryStream.type = streaming.MemoryStream
}
