package io.holdfast.query

import org.apache.spark.sql.execution.streaming.state.holdfast.SparkMemory
import org.scalatest.funsuite.AnyFunSuite

/** What Spark says of the memory that it counts, by which a memory limit goes that nobody has set. */
class SparkMemorySuite extends AnyFunSuite {

  test("what an RDD takes is counted while it is cached") {
    assert(SparkMemory.heapBytes == 0L)
    val spark = QuerySession.start("SparkMemorySuite")
    try {
      val before = SparkMemory.heapBytes
      val arrays =
        spark.sparkContext.parallelize(1 to 8, 2).map(_ => new Array[Byte](1 << 20)).cache()
      assert(arrays.count() == 8)
      assert(SparkMemory.heapBytes - before >= (8L << 20))
      arrays.unpersist(blocking = true)
      assert(SparkMemory.heapBytes - before < (8L << 20))
    } finally QuerySession.stop(spark)
    assert(SparkMemory.heapBytes == 0L)
  }
}
