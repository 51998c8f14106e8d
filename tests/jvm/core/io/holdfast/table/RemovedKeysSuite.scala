package io.holdfast.table

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.SeededTests

class RemovedKeysSuite extends AnyFunSuite with SeededTests {
  import RemovedKeysSuite._

  private val base = Keys.changed(Version.empty) { transaction =>
    (0L until Rows).foreach(Keys.put(transaction, _, valueBytes = 8))
  }

  private def slotOf(number: Long): Long = base.find(Keys.key(number), 0, Keys.bytes)

  private def cancel(keys: RemovedKeys, number: Long): Boolean = {
    val key = Keys.key(number)
    keys.cancel(Bytes.hash(key, 0, Keys.bytes), key, 0, Keys.bytes, base.pages.table)
  }

  private def slots(keys: RemovedKeys): Seq[Long] = {
    val copied = new Array[Long](keys.count)
    keys.copy(0, copied, keys.count)
    copied.toSeq
  }

  seeded("what is known are the keys that were removed and not put again") { random =>
    val keys = new RemovedKeys(MemoryUse.Unlimited)
    val removed = mutable.Set.empty[Long]
    (1 to 20000).foreach { step =>
      // Many at one time, few at another.
      val number = random.nextInt(if (step / 2000 % 2 == 0) Rows.toInt else 10).toLong
      if (removed.remove(number)) assert(cancel(keys, number))
      else if (random.nextInt(4) == 0) assert(!cancel(keys, number))
      else {
        keys.add(slotOf(number))
        removed += number
      }
      assert(keys.count == removed.size)
      if (step % 97 == 0) assert(slots(keys).sorted == removed.toSeq.map(slotOf).sorted)
    }
    removed.foreach(number => assert(cancel(keys, number)))
    assert(keys.count == 0)
  }

  test("a key that is removed and put again over and over takes no more room than once") {
    val keys = new RemovedKeys(MemoryUse.Unlimited)
    def again(number: Long): Boolean = {
      keys.add(slotOf(number))
      cancel(keys, number)
    }
    (0L until 3L).foreach(number => keys.add(slotOf(number)))
    assert(again(7L))
    val bytes = keys.bytes
    assert((1 to 100000).forall(_ => again(7L)))
    assert(keys.bytes == bytes)
    assert(slots(keys).toSet == (0L until 3L).map(slotOf).toSet)
  }
}

object RemovedKeysSuite {
  private val Rows = 5000L
}
