package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.runtime

/** What tests alone use of that which Spark 4.1 moved (`Relocated` has the rest). */
object MovedInTests {
  type MemoryStream[A] = runtime.MemoryStream[A]
  val MemoryStream: runtime.MemoryStream.type = runtime.MemoryStream
}
