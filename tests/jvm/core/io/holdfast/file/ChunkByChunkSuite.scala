package io.holdfast.file

import java.io.{ByteArrayInputStream, InputStream}

import org.scalatest.funsuite.AnyFunSuite

/** A read gives out what is ready of a chunk, and looks at none behind it. */
class ChunkByChunkSuite extends AnyFunSuite {

  /** Reads chunks as snappy-java does: until it has all that it was asked for. */
  private final class Greedy(chunks: Iterator[Array[Byte]]) extends InputStream {
    private var left = 0
    private var chunk = Array.emptyByteArray

    private def hasMore: Boolean = {
      while (left == 0 && chunks.hasNext) {
        chunk = chunks.next()
        left = chunk.length
      }
      left > 0
    }

    override def read(): Int =
      if (!hasMore) -1
      else {
        left -= 1
        chunk(chunk.length - left - 1) & 0xff
      }

    override def available(): Int = {
      // Takes one chunk, which may be empty.
      if (left == 0 && chunks.hasNext) {
        chunk = chunks.next()
        left = chunk.length
      }
      left
    }
  }

  private def chunks: Iterator[Array[Byte]] =
    Iterator(Array[Byte](1, 2, 3, 4), Array.emptyByteArray, Array[Byte](5))

  test("reads end where chunks end") {
    for (codec <- Seq("snappy", "zstd")) {
      val in = ChunkByChunk.of(codec, new Greedy(chunks))
      val into = new Array[Byte](100)
      val read =
        Iterator.continually(in.read(into, 0, 100)).takeWhile(_ >= 0).map(into.take(_).toSeq)
      assert(read.toSeq == Seq(Seq(1, 2, 3), Seq(4), Seq(5)))
    }
  }

  test("what is behind is not looked at") {
    val in =
      ChunkByChunk.of("snappy", new Greedy(chunks.take(1) ++ Iterator.fill(1)(fail("it is"))))
    assert(in.readNBytes(4).toSeq == Seq(1, 2, 3, 4))
  }

  test("other codecs give out a chunk at a time") {
    val in = new ByteArrayInputStream(Array.emptyByteArray)
    for (codec <- Seq("lz4", "lzf", "io.holdfast.Codec")) assert(ChunkByChunk.of(codec, in) eq in)
  }
}
