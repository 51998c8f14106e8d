package io.holdfast.table

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

/** Buckets and the directory under keys that nobody would wish for. */
class BucketSuite extends AnyFunSuite with SeededTests {

  private val pages = PageTable.empty

  // Slots with chosen hashes; the pages are never looked at.
  private def slot(hash: Long, number: Int): Long = Slot(hash, 1 + number / 1000, number % 1000 * 8)

  seeded("a removal keeps every other slot reachable, whatever the collisions") { random =>
    (1 to 200).foreach { _ =>
      val size = 8 + random.nextInt(56)
      val bucket = Bucket.empty(size, 0, 1L)
      val spread = 1 + random.nextInt(64)
      var slots = (0 until size - 1).map(slot(random.nextInt(spread).toLong, _)).toVector
      slots.foreach(Bucket.add(bucket, _))
      while (slots.nonEmpty) {
        val victim = slots(random.nextInt(slots.size))
        Bucket.removeAt(bucket, Bucket.findAddress(bucket, victim))
        slots = slots.filter(_ != victim)
        assert(Bucket.count(bucket) === slots.size)
        assert(Bucket.findAddress(bucket, victim) === -1)
        assert(slots.forall(left => bucket(Bucket.findAddress(bucket, left)) == left))
      }
    }
  }

  test("hashes that all collide make a long bucket, not a large directory") {
    val index = new HashIndexWriter(HashIndex.empty, MemoryUse.Unlimited)
    (0 until 20000).foreach(number => index.insert(0L, slot(0L, number)))
    val result = index.snapshot()
    assert(result.keyCount === 20000)
    assert(1L << result.depth <= 64 + 2 * 20000 / 4)
    assert((0 until 20000).forall(n => Bucket.findAddress(result.bucket(0L), slot(0L, n)) >= 0))
  }

  test("hashes that share all bits of the directory do the same") {
    val shared = 0x1fffffc0L
    val index = new HashIndexWriter(HashIndex.empty, MemoryUse.Unlimited)
    (0 until 5000).foreach(n => index.insert(shared | (n & 63), slot(shared | (n & 63), n)))
    val result = index.snapshot()
    assert(1L << result.depth <= 64 + 2 * 5000 / 4)
    assert((0 until 5000).forall { n =>
      Bucket.findAddress(result.bucket(shared), slot(shared | (n & 63), n)) >= 0
    })
  }

  test("the directory halves again when the rows go") {
    val index = new HashIndexWriter(HashIndex.empty, MemoryUse.Unlimited)
    val random = new Random(1L)
    val slots = (0 until 30000).map(n => slot(random.nextLong(), n))
    slots.foreach(s => index.insert(Slot.hash(s), s))
    val full = index.snapshot()
    slots.foreach { s =>
      val bucket = index.bucket(Slot.hash(s))
      index.removeAt(bucket, Slot.hash(s), Bucket.findAddress(bucket, s))
    }
    val empty = index.snapshot()
    assert(full.depth >= 9)
    assert(empty.depth === 0)
    assert(empty.bytes * 100 < full.bytes)
  }

  test("a search in an empty bucket finds nothing") {
    val bucket = Bucket.empty(8, 0, 1L)
    assert(Bucket.find(bucket, 5L, new Array[Byte](8), 0, 8, pages) === -1)
  }
}
