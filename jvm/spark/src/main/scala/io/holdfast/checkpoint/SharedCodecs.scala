package io.holdfast.checkpoint

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.SparkConf
import org.apache.spark.io.CompressionCodec
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals

/** The codecs of all stores of the JVM. To make one takes as long as to load a small version: snappy's
  * looks through the whole class path. Any thread may call.
  *
  * That of lzf compresses in the thread that writes, whatever Spark's setting says, which is meant for
  * shuffles: with threads of its own, which it makes for each file, it is not closed within an hour when the
  * thread that writes is interrupted, as that of a killed task is (`PLZFOutputStream` of compress-lzf 1.2).
  */
private[checkpoint] object SharedCodecs {

  // Spark has one configuration at a time.
  @volatile private[this] var current = new Codecs(null)

  /** The codec of a short name or class name.
    *
    * @throws org.apache.spark.SparkIllegalArgumentException
    *   of class CODEC_NOT_AVAILABLE if there is none
    */
  def of(conf: SparkConf, name: String): CompressionCodec = {
    val codecs = current
    if (codecs.conf eq conf) codecs(name)
    else {
      val made = new Codecs(conf)
      current = made
      made(name)
    }
  }

  // Spark has it from 4.0 on.
  private val LzfInThreads = "spark.io.compression.lzf.parallel.enabled"

  private final class Codecs(val conf: SparkConf) {
    private[this] val byName = new ConcurrentHashMap[String, CompressionCodec]
    private[this] lazy val inOneThread = conf.clone().set(LzfInThreads, "false")

    def apply(name: String): CompressionCodec = {
      val known = byName.get(name)
      if (known != null) known
      else byName.computeIfAbsent(name, SparkInternals.codec(inOneThread, _))
    }
  }
}
