package io.holdfast.table

import java.util.SplittableRandom

/** Runs a store out of the heap of its JVM, again and again, and looks at what is left of it.
  *
  * Arguments: the seed. Prints how many batches failed for want of memory, or the first key that is
  * not as it should be.
  */
object SmallHeap {
  private val keys = 60000
  private val rounds = 25

  def main(arguments: Array[String]): Unit = {
    val random = new SplittableRandom(arguments(0).toLong)
    loadClasses()
    // For each key the first byte of its value, or 0 if it has no row.
    val model = new Array[Byte](keys)
    var version = Version.empty
    var failures = 0
    (1 to rounds).foreach { round =>
      if (runOutOfMemory(version, random)) failures += 1
      version = Keys.changed(version) { rows =>
        (1 to keys / 4).foreach { _ =>
          val key = random.nextInt(keys)
          if (random.nextInt(4) == 0) {
            Keys.remove(rows, key.toLong)
            model(key) = 0
          } else {
            Keys.put(rows, key.toLong, 40, round.toByte)
            model(key) = round.toByte
          }
        }
      }
      firstDifference(version, model).foreach { problem =>
        println(s"round $round: $problem")
        sys.exit(1)
      }
    }
    println(s"$failures of $rounds batches failed")
  }

  // A class that is first used when the heap is full can never be used in this JVM.
  private def loadClasses(): Unit = {
    val version = Keys.changed(Version.empty)(rows => Keys.put(rows, 1L, 40, 1))
    val rows = version.open()
    Keys.put(rows, 2L, 40, 1)
    Keys.remove(rows, 1L)
    rows.abort()
    assert(firstDifference(version, Array[Byte](0, 1)).isEmpty)
  }

  // A batch that finds the heap full: for pages, or for the smallest pieces as well.
  private def runOutOfMemory(version: Version, random: SplittableRandom): Boolean = {
    val rows = version.open()
    val others = new Array[AnyRef](1 << 17)
    // Some rows first, so that the batch fails at its first page or later.
    try {
      val value = new Array[Byte](200)
      val key = new Array[Byte](Keys.bytes)
      def change(): Unit = {
        Bytes.putInt(key, 0, random.nextInt(2 * keys))
        if (random.nextInt(4) == 0) rows.remove(key, 0, Keys.bytes)
        else rows.put(key, 0, Keys.bytes, value, 0, random.nextInt(value.length))
      }
      (0 until random.nextInt(3)).foreach(_ => change())
      takeAllBut(others, least = 16 << random.nextInt(14))
      while (true) change()
      false
    } catch { case _: OutOfMemoryError => true }
    finally {
      java.util.Arrays.fill(others, null)
      rows.abort()
    }
  }

  // What others in the JVM hold: after it nothing larger than `least` bytes is to be had.
  private def takeAllBut(others: Array[AnyRef], least: Int): Unit = {
    var size = 1 << 20
    var count = 0
    while (size >= least && count < others.length) {
      try {
        others(count) = new Array[Byte](size)
        count += 1
      } catch { case _: OutOfMemoryError => size /= 2 }
    }
  }

  private def firstDifference(version: Version, model: Array[Byte]): Option[String] =
    if (version.keyCount != model.count(_ != 0).toLong) {
      Some(s"${version.keyCount} rows instead of ${model.count(_ != 0)}")
    } else {
      model.indices.iterator
        .flatMap { key =>
          val has = Keys.has(version, key.toLong)
          val found = if (has) Keys.fill(version, key.toLong) else 0.toByte
          Option.when(found != model(key))(s"key $key has $found instead of ${model(key)}")
        }
        .nextOption()
    }
}
