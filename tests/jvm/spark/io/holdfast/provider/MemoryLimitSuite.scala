package io.holdfast.provider

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicLong}

import scala.util.{Failure, Random, Success, Try}

import org.apache.spark.SparkException
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.conf.HoldfastConf
import io.holdfast.memory.{MemoryLimit, MemoryLimitException, StoreMemory}
import io.holdfast.testkit.{
  Background,
  FileOperation,
  Gate,
  Provider,
  Put,
  Refusals,
  Remove,
  StoreCalls,
  TestStore
}

/** `spark.sql.streaming.stateStore.holdfast.memoryLimit`: a store that would go beyond it fails with
  * a sentence, and everything that was there stays.
  */
class MemoryLimitSuite extends AnyFunSuite {

  private val setting = "spark.sql.streaming.stateStore.holdfast.memoryLimit"

  private def limited(limit: String): Provider = Provider().inMemory(2).set(setting -> limit)

  private def puts(name: String, count: Int): Seq[Put] =
    (0 until count).map(n => Put(s"$name $n", n.toLong, "n" * 100))

  test("a batch that would take the stores of the executor beyond it fails, and harms nothing") {
    TestStore.use(limited("2m")) { store =>
      store.commit(0, puts("a", 1000): _*)
      val before = store.files
      val e = intercept[MemoryLimitException](store.commit(1, puts("b", 50000): _*))
      Seq("HoldfastStateStoreProvider[", "would hold", setting, "allows 2.0 MiB", "more memory")
        .foreach { words =>
          assert(e.getMessage.contains(words), e.getMessage)
        }
      assert(store.files == before)
      assert(store.counts(1).size == 1000)
      store.commit(1, puts("c", 1000): _*)
      assert(store.counts(2).size == 2000)
    }
  }

  test(
    "cached data and operators take their room from a limit that nobody has set, and give it back") {
    var spark = 0L
    val byDefault = MemoryLimit.of(HoldfastConf(Map.empty, 1000L), () => spark)
    val memory = new StoreMemory("store", byDefault, new AtomicLong)
    memory.newUse().holds(500L)
    assert(!memory.hasRoomFor(1L))
    spark = 400L
    assert(byDefault.bytes == 500L && byDefault.describe.endsWith(" allows 500 B"))
    spark = 600L
    val e = intercept[MemoryLimitException](memory.newUse().holds(1L))
    assert(
      e.getMessage.contains(
        s"$setting allows 300 B beside 600 B of cached data and operators. Give"))
    spark = 5000L
    assert(byDefault.bytes == 90L)
    spark = 0L
    assert(byDefault.bytes == 500L)
    spark = 600L
    val set = MemoryLimit.of(HoldfastConf(Map(setting -> "50%"), 1000L), () => spark)
    assert(set.bytes == 500L && set.describe.endsWith(" allows 500 B"))
  }

  test("a version that does not fit is not loaded") {
    TestStore.use(limited("100m")) { store =>
      store.commit(0, puts("a", 50000): _*)
      val small = new TestStore(limited("2m"), store.root)
      try {
        store.close()
        val e = intercept[SparkException](small.counts(1))
        assert(Refusals.is(e, Refusals.CannotLoad))
        assert(e.getCause.isInstanceOf[MemoryLimitException])
      } finally small.close()
    }
  }

  test("a store that is full still writes its snapshot, which a walk over its rows is for") {
    TestStore.use(limited("32m").minDeltas(1)) { store =>
      var version = 0L
      // Fills what is left of the limit with ever smaller batches.
      Seq(20000, 1000, 50, 1).foreach { size =>
        while (Try(store.commit(version, puts(s"$version", size): _*)) match {
            case Success(_) => true
            case Failure(_: MemoryLimitException) => false
            case Failure(e) => throw e
          }) version += 1
      }
      intercept[MemoryLimitException](store.read(version).iterator().foreach(_ => ()))
      store.provider.doMaintenance()
      assert(store.fileNames.contains(s"$version.snapshot"))
    }
  }

  test("a version is loaded in a room that has none for the deltas ahead") {
    val random = new Random(1)
    // Of a megabyte each, compressed or not, and each in the place of the one before.
    def note = new String(Array.fill(1 << 20)(('0' + random.nextInt(64)).toChar))
    TestStore.use(limited("100m")) { store =>
      (0L until 20L).foreach(version => store.commit(version, Put("a", version, note)))
      store.close()
      val small = new TestStore(limited("6m"), store.root)
      try assert(small.counts(20) == Map("a" -> 19L))
      finally small.close()
    }
  }

  test("a version that somebody reads counts until it is released, though it left memory") {
    TestStore.use(limited("100m")) { store =>
      store.commit(0, puts("a", 20000): _*)
      val reader = store.provider.getReadStore(1)
      // All rows are replaced in each of them, so that versions share nothing.
      (1L to 3L).foreach(version => store.commit(version, puts("a", 20000): _*))
      val rowBytes = 20000L * 100
      val before = StoreMemory.heldInThisJvm
      StoreCalls.end(reader)
      assert(before - StoreMemory.heldInThisJvm >= rowBytes)
      StoreCalls.end(reader)
      assert(before - StoreMemory.heldInThisJvm < 2 * rowBytes)
    }
  }

  test("what is read or written as a snapshot beside many batches counts what they replace") {
    val gate = new Gate(FileOperation.Write, "1.snapshot")
    TestStore.use(limited("24m").inMemory(2).watched(gate)) { store =>
      val before = StoreMemory.heldInThisJvm
      val first = store.write(0, forceSnapshot = true)
      puts("a", 80000).foreach(_.applyTo(first))
      first.commit()
      gate.awaitArrival()
      val reader = store.read(1)
      val state = StoreMemory.heldInThisJvm - before
      (1L to 8L).foreach { version =>
        store.commit(version, Put("a 0", version))
        assert(StoreMemory.heldInThisJvm - before < state * 5 / 4, s"in version $version")
      }
      gate.open()
      store.awaitSnapshots()
      StoreCalls.end(reader)
    }
  }

  test("so does an attempt that another one took the place of while it was read") {
    TestStore.use(limited("24m").inMemory(2)) { store =>
      val before = StoreMemory.heldInThisJvm
      store.commit(0, puts("a", 80000): _*)
      store.commit(1, Put("a 0", 1L))
      val state = StoreMemory.heldInThisJvm - before
      val reader = store.read(2)
      store.commit(1, Put("a 0", 2L))
      assert(StoreMemory.heldInThisJvm - before < state * 5 / 4)
      StoreCalls.end(reader)
    }
  }

  test("what a thread still asks for while another one ends its store does not count for good") {
    val all = new AtomicLong
    val memory = new StoreMemory("store", MemoryLimit.of(Long.MaxValue), all)
    (1 to 200).foreach { _ =>
      val walk = memory.newUse()
      val begun, ended = new AtomicBoolean
      val walking = new Background({
        while (!ended.get) {
          walk.allocate(1L << 20)
          begun.set(true)
        }
      })
      while (!begun.get) Thread.onSpinWait()
      walk.end()
      ended.set(true)
      walking.result()
      assert(all.get === 0L)
    }
  }

  test("a store that two threads end is counted down once") {
    TestStore.use(limited("100m").inMemory(1)) { store =>
      store.commit(0, puts("a", 1000): _*)
      (1 to 300).foreach { _ =>
        val first = store.read(1)
        val second = store.read(1)
        val ready = new AtomicInteger
        def release(): Unit = {
          ready.incrementAndGet()
          while (ready.get < 2) Thread.onSpinWait()
          StoreCalls.end(first)
        }
        val releasing = new Background(release())
        release()
        releasing.result()
        StoreCalls.end(second)
      }
    }
  }

  test("what is removed, aborted and closed makes room") {
    TestStore.use(limited("24m")) { store =>
      var version = 0L
      // Each round needs most of the limit.
      (1 to 10).foreach { round =>
        val rows = puts(s"r$round", 50000)
        val aborted = store.write(version)
        rows.foreach(_.applyTo(aborted))
        aborted.abort()
        version = store.commit(version, rows: _*)
        version = store.commit(version, rows.map(row => Remove(row.name)): _*)
        version = store.commit(version)
      }
      (1 to 3).foreach { _ =>
        store.commit(version, puts("last", 50000): _*)
        store.reopen()
      }
    }
  }

  for ((limit, sentence) <- Seq(
      "much" -> "'much'",
      "0" -> "'0'",
      "0%" -> "'0%'",
      "101%" -> "'101%'",
      "-5m" -> "'-5m'"))
    test(s"a limit of $limit is refused") {
      val e = intercept[IllegalArgumentException](TestStore.use(limited(limit))(_.counts(0)))
      assert(e.getMessage.contains(sentence) && e.getMessage.contains("8g"))
    }

  for ((limit, sentence) <- Seq(
      "8" -> "unit was probably forgotten, and 8g or 8m meant, or 8% of the heap; give bytes such",
      " 4096 " -> "is ' 4096 ', 4.0 KiB, and state stores need at least 1.0 MiB: its unit",
      "4096" -> "and 4096g or 4096m meant; give",
      "1b" -> "need at least 1.0 MiB; give bytes such as 8g, or a share",
      "1023k" -> "is '1023k', 1023.0 KiB, and state stores need"))
    test(s"a limit of $limit is too small to be meant") {
      val e = intercept[IllegalArgumentException](TestStore.use(limited(limit))(_.counts(0)))
      assert(e.getMessage.contains(sentence), e.getMessage)
    }

  test("the smallest limit in bytes is taken, and any share of the heap") {
    def bytes(limit: String): Long = HoldfastConf(Map(setting -> limit), 1000L).memoryLimitBytes
    assert(bytes("1m") == 1L << 20 && bytes("1048576") == 1L << 20 && bytes("1%") == 10L)
  }

  test("a setting of Holdfast that there is not is refused by name") {
    val wrong = "spark.sql.streaming.stateStore.holdfast.memoryLimits"
    val e =
      intercept[IllegalArgumentException](TestStore.use(Provider().set(wrong -> "1g"))(_.counts(0)))
    assert(e.getMessage.startsWith(s"$wrong is no setting of Holdfast; it has $setting"))
  }
}
