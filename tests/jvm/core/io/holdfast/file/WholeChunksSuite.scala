package io.holdfast.file

import java.io.{ByteArrayInputStream, EOFException, IOException, InputStream}
import java.lang.management.ManagementFactory
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.ISO_8859_1

import com.sun.management.ThreadMXBean
import org.scalatest.funsuite.AnyFunSuite

/** Chunks whose lengths are right are given out as they are; others make an error, and no room. */
class WholeChunksSuite extends AnyFunSuite {

  private def bytes(parts: Array[Byte]*): Array[Byte] = parts.flatten.toArray

  private def little(number: Int): Array[Byte] =
    ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(number).array

  private def big(number: Int): Array[Byte] = ByteBuffer.allocate(4).putInt(number).array

  private def body(length: Int): Array[Byte] = Array.tabulate(length)(_.toByte)

  private def lz4(compressed: Int, original: Int, body: Array[Byte]): Array[Byte] =
    bytes(
      "LZ4Block".getBytes(ISO_8859_1),
      Array(0x25.toByte),
      little(compressed),
      little(original),
      little(7),
      body)

  private val snappyHeader =
    bytes("\u0082SNAPPY\u0000".getBytes(ISO_8859_1), big(1), big(1))

  private def snappy(compressed: Int, body: Array[Byte]): Array[Byte] =
    bytes(big(compressed), body)

  private val right: Map[String, Array[Byte]] = Map(
    "lz4" -> bytes(
      lz4(100, 3000, body(100)),
      lz4(32000, 32768, body(32000)),
      lz4(0, 0, body(0)),
      lz4(1, 300, body(1))),
    "snappy" -> bytes(
      snappyHeader,
      snappy(100, body(100)),
      snappy(5000, body(5000)),
      snappy(3, Array(64, 0, 0))),
    "lzf" -> bytes(
      "ZV\u0000".getBytes(ISO_8859_1),
      Array(2.toByte, 0.toByte),
      body(512),
      "ZV\u0001".getBytes(ISO_8859_1),
      Array[Byte](0, 4, 0, 5, 0, 9, 0x40, 0)),
    "zstd" -> body(1000))

  /** A stream that gives at most `most` bytes at a time. */
  private def slow(content: Array[Byte], most: Int): InputStream =
    new ByteArrayInputStream(content) {
      override def read(into: Array[Byte], offset: Int, length: Int): Int =
        super.read(into, offset, math.min(length, most))
    }

  private def readBy(in: InputStream, count: Int): Array[Byte] = {
    val buffer = new Array[Byte](count)
    val all = Array.newBuilder[Byte]
    var read = in.read(buffer, 0, count)
    while (read > 0) {
      all ++= buffer.take(read)
      read = in.read(buffer, 0, count)
    }
    all.result()
  }

  for ((codec, content) <- right) {
    test(s"$codec: what is right is given out as it is, however it comes and is asked for") {
      for (most <- Seq(1, 7, 4096, 1 << 20); count <- Seq(1, 21, 5000, 1 << 20)) {
        val in = WholeChunks.of(codec, slow(content, most), trustsLz4 = true)
        assert(readBy(in, count).sameElements(content))
        assert(in.read() == -1)
      }
      val in = WholeChunks.of(codec, new ByteArrayInputStream(content), trustsLz4 = true)
      assert(Iterator.continually(in.read()).takeWhile(_ >= 0).map(_.toByte).sameElements(content))
    }

    test(s"$codec: what is cut off is given out as far as its last whole chunk, and no further") {
      for (length <- 0 until content.length by (if (content.length > 1000) 37 else 1)) {
        val in =
          WholeChunks.of(codec, new ByteArrayInputStream(content.take(length)), trustsLz4 = true)
        val found = Array.newBuilder[Byte]
        try found ++= Iterator.continually(in.read()).takeWhile(_ >= 0).map(_.toByte)
        catch { case _: EOFException => () }
        assert(content.startsWith(found.result()))
      }
    }
  }

  private def givenOut(codec: String, content: Array[Byte]): Array[Byte] =
    readBy(WholeChunks.of(codec, slow(content, 7), trustsLz4 = true), 99)

  test("where one stream ends and another begins, nothing is given out") {
    val end = lz4(0, 0, Array.emptyByteArray)
    for (i <- 17 until end.length) end(i) = 0
    val block = lz4(3, 3, body(3))
    assert(
      givenOut("lz4", bytes(end, end, block, end, block, end)).sameElements(bytes(block, block)))
    assert(givenOut("lz4", bytes(end, end)).isEmpty)
    val chunk = snappy(3, Array(64, 0, 0))
    assert(
      givenOut(
        "snappy",
        bytes(snappyHeader, snappyHeader, chunk, snappyHeader, snappyHeader, chunk))
        .sameElements(bytes(snappyHeader, chunk, chunk)))
  }

  test("what is none of these is left to the codec") {
    val wrongMethod = lz4(0, 0, Array.emptyByteArray)
    for (i <- 17 until wrongMethod.length) wrongMethod(i) = 0
    wrongMethod(8) = 0x35
    assert(givenOut("lz4", wrongMethod).sameElements(wrongMethod))
    for ((at, byte) <- Seq(5 -> 0, 15 -> 0)) {
      val wrong = snappyHeader.clone()
      wrong(at) = byte.toByte
      val content = bytes(snappyHeader, wrong)
      assert(givenOut("snappy", content).sameElements(content))
    }
  }

  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]

  private def refused(codec: String, content: Array[Byte]): IOException = {
    val thread = Thread.currentThread.getId
    val in = WholeChunks.of(codec, new ByteArrayInputStream(content), trustsLz4 = true)
    val into = new Array[Byte](100)
    val before = threads.getThreadAllocatedBytes(thread)
    val e =
      try {
        while (in.read(into, 0, into.length) > 0) {}
        fail(s"$codec took it")
      } catch { case e: IOException => e }
    assert(threads.getThreadAllocatedBytes(thread) - before < (1 << 20))
    e
  }

  test("a length that is not there makes no room") {
    for (length <- Seq(101, 1 << 20, 1 << 30, Int.MaxValue - 21)) {
      assert(refused("lz4", lz4(length, 1 << 15, body(100))).isInstanceOf[EOFException])
      assert(
        refused("snappy", bytes(snappyHeader, snappy(length, body(100))))
          .isInstanceOf[EOFException])
    }
    val e = refused("lz4", lz4(1 << 30, 1 << 15, body(100)))
    assert(e.getMessage == "expected a chunk of 1073741824 bytes, found the end of the file")
  }

  test("what a chunk cannot hold makes no room") {
    val e = refused("lz4", lz4(10, 1 << 25, body(10)))
    assert(
      e.getMessage == "expected a chunk of 10 bytes to hold at most 255 times as many, found one that says 33554432")
    val much = Array(0x80, 0x80, 0x80, 0x80, 7).map(_.toByte)
    val same = refused("snappy", bytes(snappyHeader, snappy(5, much)))
    assert(
      same.getMessage.contains(
        "5 bytes to hold at most 22 times as many, found one that says 1879048192"))
  }

  test("what has not the codec's header is refused") {
    assert(refused("lz4", body(100)).getMessage == "expected a block of lz4, found other bytes")
    assert(
      refused("snappy", body(100)).getMessage == "expected the header of snappy, found other bytes")
  }

  test("a file that ends in front of a chunk is refused") {
    for ((codec, content) <- Seq("lz4" -> right("lz4").take(20), "snappy" -> body(15))) {
      assert(refused(codec, content).isInstanceOf[EOFException])
    }
  }

  test("a length below zero is left to the codec") {
    for (length <- Seq(-1, Int.MinValue)) {
      val content = lz4(length, 10, Array.emptyByteArray)
      assert(
        readBy(WholeChunks.of("lz4", new ByteArrayInputStream(content)), 99).sameElements(content))
    }
  }
}
