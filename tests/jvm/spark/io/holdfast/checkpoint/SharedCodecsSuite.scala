package io.holdfast.checkpoint

import org.apache.spark.SparkConf
import org.scalatest.funsuite.AnyFunSuite

/** All stores of a JVM have the same codecs, as long as they have the same settings. */
class SharedCodecsSuite extends AnyFunSuite {

  test("a codec is made once for a configuration of Spark, and anew for another one") {
    val first = new SparkConf(false)
    val second = new SparkConf(false)
    val codec = SharedCodecs.of(first, "lz4")
    assert(SharedCodecs.of(first, "lz4") eq codec)
    assert(SharedCodecs.of(first, "zstd").getClass ne codec.getClass)
    assert(SharedCodecs.of(second, "lz4") ne codec)
  }

  test("a codec that there is not is refused each time") {
    val conf = new SparkConf(false)
    (1 to 2).foreach { _ =>
      val e = intercept[IllegalArgumentException](SharedCodecs.of(conf, "none-such"))
      assert(e.getMessage.contains("none-such"))
    }
  }
}
