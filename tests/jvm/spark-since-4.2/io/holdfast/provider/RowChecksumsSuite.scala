package io.holdfast.provider

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.ReadStateStore
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.unsafe.Platform
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, TestRows, TestStore}

/** Checksums of rows in memory: which reads verify them
  * (`spark.sql.streaming.stateStore.rowChecksum.readVerificationRatio`).
  */
class RowChecksumsSuite extends AnyFunSuite {

  private val Failure = "STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED"

  private def settings(ratio: Long): Provider = Provider()
    .rowChecksums(true)
    .set(SQLConf.STATE_STORE_ROW_CHECKSUM_READ_VERIFICATION_RATIO.key -> ratio)

  /** A store with a row whose value in memory is another than the one that was put. */
  private def damaged[A](settings: Provider)(body: ReadStateStore => A): A =
    TestStore.use(settings) { store =>
      store.commit(0, Put("a", 1))
      flipBit(store.read(1).get(TestRows.key("a")))
      body(store.read(1))
    }

  private def flipBit(row: UnsafeRow): Unit = {
    val place = row.getBaseOffset + row.getSizeInBytes - 1
    val byte = Platform.getByte(row.getBaseObject, place)
    Platform.putByte(row.getBaseObject, place, (byte ^ 1).toByte)
  }

  private def isRefused(read: => Any): Boolean =
    try {
      read
      false
    } catch {
      case e: SparkThrowable if e.getCondition == Failure => true
    }

  test("with 1, every read of a row is verified") {
    damaged(settings(1)) { store =>
      assert((1 to 4).forall(_ => isRefused(store.get(TestRows.key("a")))))
      assert(isRefused(store.multiGet(Array(TestRows.key("a")), "default").toList))
      assert(isRefused(store.iterator().toList))
    }
  }

  test("with 3, every third one is") {
    damaged(settings(3)) { store =>
      val refused = (1 to 9).filter(_ => isRefused(store.get(TestRows.key("a"))))
      assert(refused == Seq(3, 6, 9))
    }
  }

  test("with 0, none is, also in a store for writing") {
    damaged(settings(0)) { store =>
      assert((1 to 4).forall(_ => !isRefused(store.get(TestRows.key("a")))))
    }
  }

  test("a store for writing verifies what it reads, and not what it removes or replaces") {
    TestStore.use(settings(1)) { store =>
      store.commit(0, Put("a", 1), Put("b", 1), Put("c", 1))
      Seq("a", "b").foreach { name =>
        val open = store.read(1)
        flipBit(open.get(TestRows.key(name)))
      }
      val open = store.write(1)
      assert(isRefused(open.get(TestRows.key("a"))))
      Put("a", 2).applyTo(open)
      open.remove(TestRows.key("b"))
      open.commit()
      assert(store.counts(2) == Map("a" -> 2L, "c" -> 1L))
      store.reopen()
      assert(store.counts(2) == Map("a" -> 2L, "c" -> 1L))
    }
  }

  test("without row checksums, nothing is verified") {
    damaged(settings(1).rowChecksums(false)) { store =>
      assert(!isRefused(store.get(TestRows.key("a"))))
    }
  }
}
