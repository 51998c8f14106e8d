package io.holdfast.checkpoint

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.util.Random

import org.apache.spark.SparkConf
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.file.{ChunkByChunk, WholeChunks}

/** What Spark's codecs write, with every block size and however well it can be compressed, comes back:
  * no bound of a chunk is too narrow.
  */
class WholeChunksOfCodecsSuite extends AnyFunSuite {

  private val Length = 3000000

  private def repeated(period: Int): Array[Byte] = Array.tabulate(Length)(i => (i % period).toByte)

  private val contents: Map[String, Array[Byte]] = Map(
    "nothing" -> Array.emptyByteArray,
    "one byte" -> Array(1),
    "zeros" -> new Array[Byte](Length),
    "pairs" -> repeated(2),
    "words" -> repeated(8),
    "rows" -> repeated(77),
    "noise" -> {
      val bytes = new Array[Byte](Length)
      new Random(1).nextBytes(bytes)
      bytes
    })

  private val settings: Map[String, Seq[Seq[(String, String)]]] = Map(
    "lz4" -> Seq("64b", "1000b", "32k", "32m").map(size =>
      Seq("spark.io.compression.lz4.blockSize" -> size)),
    "snappy" -> Seq("1k", "32k", "64m").map(size =>
      Seq("spark.io.compression.snappy.blockSize" -> size)),
    "zstd" -> Seq("-5", "1", "19").map(level => Seq("spark.io.compression.zstd.level" -> level)),
    "lzf" -> Seq("false", "true").map(is => Seq("spark.io.compression.lzf.parallel.enabled" -> is)))

  for {
    codec <- SparkInternals.CodecNames
    chosen <- settings(codec)
    (name, content) <- contents
  } test(s"${chosen.map(_._2).mkString} $codec: $name") {
    val made = SparkInternals.codec(new SparkConf(false).setAll(chosen), codec)
    val written = new ByteArrayOutputStream
    val out = made.compressedOutputStream(written)
    out.write(content)
    out.close()
    for (trusts <- Seq(true, false)) {
      val file = new ByteArrayInputStream(written.toByteArray)
      val whole = WholeChunks.of(codec, file, trusts)
      val in = ChunkByChunk.of(codec, made.compressedInputStream(whole))
      assert(in.readAllBytes().sameElements(content))
    }
  }
}
