package io.holdfast.file

import org.scalatest.funsuite.AnyFunSuite

/** Content of a chunk that leads out of it is told from such that does not. */
class ChunkContentSuite extends AnyFunSuite {

  private def content(numbers: Int*): Array[Byte] = numbers.map(_.toByte).toArray

  private def lz4(original: Int, numbers: Int*): Boolean =
    ChunkContent.isLz4(content(numbers: _*), 0, numbers.length, original)

  private def lzf(original: Int, numbers: Int*): Boolean =
    ChunkContent.isLzf(content(numbers: _*), 0, numbers.length, original)

  test("lz4: literals and copies that make what is said") {
    assert(lz4(3, 0x30, 1, 2, 3))
    assert(lz4(16, Seq(0xf0, 1) ++ Seq.fill(16)(7): _*))
    assert(lz4(270, Seq(0xf0, 255, 0) ++ Seq.fill(270)(7): _*))
    assert(lz4(2 + 5 + 1, 0x21, 7, 7, 2, 0, 0x10, 9))
    assert(lz4(1 + 19 + 255 + 4 + 1, 0x1f, 7, 1, 0, 255, 4, 0x10, 9))
  }

  test("lz4: what is said is not made") {
    for (original <- Seq(0, 2, 4, Int.MaxValue, -1)) assert(!lz4(original, 0x30, 1, 2, 3))
    assert(!lz4(9, 0x21, 7, 7, 2, 0, 0x10, 9))
    assert(!lz4(7, 0x21, 7, 7, 2, 0, 0x10, 9))
  }

  test("lz4: lengths that lead out of the block") {
    assert(!lz4(32768, (0xf0 +: Seq.fill(127)(255)) :+ 254: _*))
    assert(!lz4(15, 0xf0))
    assert(!lz4(15 + 255, 0xf0, 255))
    assert(!lz4(4, 0x40, 1, 2, 3))
    assert(!lz4(6, 0x20, 7, 7))
    assert(!lz4(6, 0x20, 7, 7, 1))
    assert(!lz4(6, 0x20, 7, 7, 1, 0))
    assert(!lz4(2 + 19, 0x2f, 7, 7, 1, 0))
  }

  test("lz4: copies of what is not there") {
    assert(!lz4(2 + 4 + 1, 0x20, 7, 7, 3, 0, 0x10, 9))
    assert(!lz4(4 + 1, 0x00, 1, 0, 0x10, 9))
  }

  test("lzf: literals and copies that make what is said") {
    assert(lzf(3, 2, 1, 2, 3))
    assert(lzf(1 + 4, 0, 7, 0x40, 0))
    assert(lzf(1 + 9 + 200, 0, 7, 0xe0, 200, 0))
    assert(lzf(0))
  }

  test("lzf: what is said is not made, or not of what is there") {
    for (original <- Seq(2, 4)) assert(!lzf(original, 2, 1, 2, 3))
    assert(!lzf(3, 2, 1, 2))
    assert(!lzf(1 + 4, 0, 7, 0x40))
    assert(!lzf(1 + 9 + 200, 0, 7, 0xe0, 200))
    assert(!lzf(1 + 4, 0, 7, 0x40, 1))
    assert(!lzf(1 + 4, 0, 7, 0x41, 0))
    assert(!lzf(4, 0x40, 0))
  }
}
