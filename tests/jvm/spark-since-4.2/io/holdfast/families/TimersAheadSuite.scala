package io.holdfast.families

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec,
  StateStore
}
import org.apache.spark.sql.types.{LongType, StringType, StructField, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.rows.RowBytes
import io.holdfast.table.{RowOrder, RowRecord, RowsByKey, Version}
import io.holdfast.testkit.{Provider, TestStore}

/** Timers that are read ahead, and the rows that are asked for beside them. */
class TimersAheadSuite extends AnyFunSuite {
  import TimersAheadSuite._

  private val valueSchema = StructType(Seq(StructField("empty", LongType)))
  private val value = UnsafeProjection.create(valueSchema)(InternalRow(0L))

  private def use(body: (TestStore, Long => StateStore) => Unit): Unit =
    TestStore.use(Provider().withFamilies) { test =>
      body(
        test,
        version => {
          val store = test.write(version)
          store.createColFamilyIfAbsent(
            KeysToTimes,
            byKeySchema,
            valueSchema,
            PrefixKeyScanStateEncoderSpec(byKeySchema, 1),
            isInternal = true)
          store.createColFamilyIfAbsent(
            TimesToKeys,
            byTimeSchema,
            valueSchema,
            RangeKeyScanStateEncoderSpec(byTimeSchema, Seq(0)),
            isInternal = true)
          store
        })
    }

  private def register(store: StateStore, time: Long, name: String): Unit = {
    assert(store.get(byKey(name, time), KeysToTimes) == null)
    store.put(byKey(name, time), value, KeysToTimes)
    store.put(byTime(time, name), value, TimesToKeys)
  }

  private def delete(store: StateStore, time: Long, name: String): Unit = {
    assert(store.get(byKey(name, time), KeysToTimes) != null)
    store.remove(byKey(name, time), KeysToTimes)
    store.remove(byTime(time, name), TimesToKeys)
  }

  private def expired(store: StateStore, until: Long): Iterator[(Long, String)] =
    store
      .rangeScan(None, Some(byTime(until, "")), TimesToKeys)
      .map(pair => (pair.key.getLong(0), pair.key.getStruct(1, 2).getString(0)))

  test("timers fire, each once and in order, while they go and others come") {
    use { (test, open) =>
      Seq(1, 4, 5, 31, 36, 37, 200).zipWithIndex.foreach { case (count, at) =>
        val store = open(2L * at)
        (1 to count).foreach(n => register(store, n.toLong, s"key ${n % 7}"))
        register(store, 1000L, "late")
        store.commit()
        val next = open(2L * at + 1)
        val fired = mutable.ArrayBuffer.empty[Long]
        expired(next, 1000L).foreach { case (time, name) =>
          fired += time
          delete(next, time, name)
          // One that has come too late for this walk, and one that stays.
          register(next, -time, name)
          register(next, 1000L + time, name)
        }
        assert(fired.toSeq === (1L to count.toLong))
        assert(expired(next, 1000L).map(_._1).toSeq === (-count.toLong to -1L))
        expired(next, 5000L).toList.foreach { case (time, name) => delete(next, time, name) }
        assert(expired(next, 5000L).isEmpty)
        next.commit()
        assert(test.read(2L * at + 2).iterator(KeysToTimes).isEmpty)
      }
    }
  }

  test("a walk that is closed shows nothing any more, and one that outlives its store goes on") {
    use { (_, open) =>
      val store = open(0)
      (1 to 100).foreach(n => register(store, n.toLong, "key"))
      val closed = store.rangeScan(None, None, TimesToKeys)
      assert(closed.next().key.getLong(0) === 1L)
      closed.close()
      assert(!closed.hasNext)
      val left = store.rangeScan(None, None, TimesToKeys)
      assert(left.next().key.getLong(0) === 1L)
      delete(store, 50L, "key")
      store.commit()
      assert(left.map(_.key.getLong(0)).toSeq === (2L to 100L))
      val _ = assert(!left.hasNext)
    }
  }

  test("of each timer the row is read that its key has beside it") {
    val timers = (1 to 100).map { n =>
      (1000L * n, if (n % 10 == 0) null else "x" * (n % 40))
    }
    val transaction = Version.empty.open()
    val bytes = new RowBytes
    timers.foreach { case (time, name) =>
      bytes.set(byTime(time, name))
      transaction.put(bytes.bytes, bytes.offset, bytes.length, bytes.bytes, bytes.offset, 0)
    }
    val asked = mutable.ArrayBuffer.empty[Long]
    val rows = new RowsByKey {
      override def find(key: Array[Byte], keyOffset: Int, keyLength: Int): Long = fail()
      override def page(row: Long): Array[Byte] = fail()
      override private[holdfast] def fetch(hashes: Array[Long], count: Int): Long = {
        asked ++= hashes.take(count)
        java.util.Arrays.fill(hashes, 0L)
        0L
      }
    }
    val walk = new TimersAhead(transaction.cursor(), rows)
    var shown = 0
    while (walk.next()) {
      bytes.set(byTime(timers(shown)._1, timers(shown)._2))
      assert(
        RowOrder.equal(
          walk.page,
          RowRecord.keyOffset(walk.offset),
          bytes.bytes,
          bytes.offset,
          bytes.length))
      shown += 1
      assert(asked.size >= shown)
    }
    assert(!walk.next())
    assert(shown === timers.size)
    assert(asked.toSeq === timers.map { case (time, name) =>
      bytes.set(byKey(name, time))
      RowOrder.hash(bytes.bytes, bytes.offset, bytes.length)
    })
    transaction.abort()
  }
}

object TimersAheadSuite {
  private val KeysToTimes = "$eventTimers_keyToTimestamp"
  private val TimesToKeys = "$eventTimers_timestampToKey"

  private val key =
    StructType(Seq(StructField("name", StringType), StructField("number", LongType)))
  private val byKeySchema = StructType(Seq(StructField("key", key), StructField("time", LongType)))
  private val byTimeSchema = StructType(Seq(StructField("time", LongType), StructField("key", key)))

  private val toKey = UnsafeProjection.create(byKeySchema)
  private val toTime = UnsafeProjection.create(byTimeSchema)

  private def named(name: String): InternalRow = InternalRow(UTF8String.fromString(name), 7L)

  private def byKey(name: String, time: Long): UnsafeRow =
    toKey(InternalRow(named(name), time)).copy()

  private def byTime(time: Long, name: String): UnsafeRow =
    toTime(InternalRow(time, named(name))).copy()
}
