package io.holdfast.file

import java.nio.charset.StandardCharsets

import org.scalatest.funsuite.AnyFunSuite

/** CRC-32C in the way of each Java that class files are made for, by values of RFC 3720. */
class Crc32cSuite extends AnyFunSuite {

  private def of(bytes: Array[Byte]): Int = {
    val checksum = new Crc32c
    checksum.update(bytes, 0, bytes.length)
    checksum.value()
  }

  test("known texts have their checksums") {
    assert(of(Array.empty[Byte]) == 0)
    assert(of("123456789".getBytes(StandardCharsets.US_ASCII)) == 0xe3069283)
    assert(of(new Array[Byte](32)) == 0x8a9136aa)
    assert(of(Array.fill(32)(0xff.toByte)) == 0x62a8ab43)
  }

  test("parts give what the whole gives") {
    val bytes = Array.tabulate(50)(_.toByte)
    for (cut <- 0 to 50) {
      val parts = new Crc32c
      parts.update(bytes, 0, cut)
      parts.update(bytes, cut, 50 - cut)
      assert(parts.value() == of(bytes))
    }
  }
}
