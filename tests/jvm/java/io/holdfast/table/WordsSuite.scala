package io.holdfast.table

import java.nio.{ByteBuffer, ByteOrder}

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Words inside byte arrays, in the way of each Java that class files are made for. */
class WordsSuite extends AnyFunSuite {

  private val bytes = {
    val made = new Array[Byte](100)
    new Random(1).nextBytes(made)
    made
  }

  private def buffer(order: ByteOrder): ByteBuffer = ByteBuffer.wrap(bytes).order(order)

  test("words are read at any place, the least byte first, or as the machine has them") {
    val little = buffer(ByteOrder.LITTLE_ENDIAN)
    val native = buffer(ByteOrder.nativeOrder())
    for (place <- 0 to 92) {
      assert(Words.getLong(bytes, place) == little.getLong(place))
      assert(Words.getNativeLong(bytes, place) == native.getLong(place))
    }
    for (place <- 0 to 96) assert(Words.getInt(bytes, place) == little.getInt(place))
  }

  test("what is written is read, and nothing beside it changes") {
    for (place <- 0 to 96) {
      val into = bytes.clone()
      Words.putInt(into, place, 0x01020304)
      assert(into.slice(place, place + 4).toSeq == Seq[Byte](4, 3, 2, 1))
      assert(into.take(place).toSeq == bytes.take(place).toSeq)
      assert(into.drop(place + 4).toSeq == bytes.drop(place + 4).toSeq)
    }
  }

  test("a word that is not all in the array is refused") {
    for (place <- Seq(Int.MinValue, -8, -1, 93, 100, Int.MaxValue)) {
      intercept[IndexOutOfBoundsException](Words.getLong(bytes, place))
      intercept[IndexOutOfBoundsException](Words.getNativeLong(bytes, place))
    }
    for (place <- Seq(Int.MinValue, -4, -1, 97, 100, Int.MaxValue)) {
      intercept[IndexOutOfBoundsException](Words.getInt(bytes, place))
      intercept[IndexOutOfBoundsException](Words.putInt(bytes.clone(), place, 1))
    }
  }

  test("ranges are equal where all of their bytes are") {
    for (length <- 0 to 40) {
      val copy = new Array[Byte](60)
      System.arraycopy(bytes, 7, copy, 3, length)
      assert(Words.equal(bytes, 7, copy, 3, length))
      for (at <- 0 until length) {
        copy(3 + at) = (copy(3 + at) + 1).toByte
        assert(!Words.equal(bytes, 7, copy, 3, length))
        copy(3 + at) = (copy(3 + at) - 1).toByte
      }
    }
  }
}
