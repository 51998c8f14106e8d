package io.holdfast.provider

import java.io.{ByteArrayOutputStream, IOException, OutputStream}
import java.util.concurrent.Executor

import scala.util.Random

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.file.RecordWriter
import io.holdfast.surroundings.Beside
import io.holdfast.table.{FailingMemory, Keys, MemoryUse, Transaction, Version}
import io.holdfast.testkit.HandExecutor

/** A commit of which one thread writes the changes and another makes the version, failing wherever
  * either may: nobody writes any more when the failure is told, and the version before is whole.
  */
class FailuresBesideSuite extends AnyFunSuite {
  import FailuresBesideSuite._

  // Its pages have as many holes as they may have.
  private val base = (1 to 6).foldLeft {
    Keys.changed(Version.empty)(t => (0L until rows).foreach(Keys.put(t, _, valueBytes)))
  }((version, round) => Keys.changed(version)(change(_, round)))
  private val content = Keys.content(base)

  private def changed(memory: MemoryUse): Transaction = {
    val transaction = base.open(memory)
    change(transaction, 7)
    transaction
  }

  private def change(transaction: Transaction, round: Int): Unit = {
    val random = new Random(round)
    (1 to 8000).foreach { n =>
      val key = random.nextInt(rows.toInt).toLong
      if (n % 3 == 0) Keys.remove(transaction, key)
      else Keys.put(transaction, key, valueBytes, round.toByte)
    }
  }

  // What the transaction became; it is aborted if it became nothing.
  private def committed(transaction: Transaction, out: OutputStream, by: Executor): Version =
    try {
      val changes = transaction.changes()
      val writer = new RecordWriter(out, rowChecksums = false)
      new Beside(by, worthFrom = 0L)
        .both(changes.bytes)(() => changes.foreach(writer))(transaction.commit())
    } finally transaction.abort()

  private lazy val after = Keys.content(changed(MemoryUse.Unlimited).commit())

  private def assertAsBefore(): Assertion = {
    assert(Keys.content(base) == content)
    // Whoever comes next finds the page free that the transaction went on filling.
    val next = committed(changed(MemoryUse.Unlimited), new ByteArrayOutputStream, atOnce)
    assert(Keys.content(next) == after)
  }

  for ((how, executor) <- Seq("another thread" -> threads, "this thread" -> new HandExecutor)) {
    test(s"every allocation of the commit is refused while $how writes") {
      val needed = new FailingMemory(Long.MaxValue)
      val transaction = changed(needed)
      transaction.changes()
      val before = needed.asked
      transaction.commit()
      assert(transaction.relocatedBytes > 0L)
      assert(needed.asked > before + 3)
      // How much is needed depends on how full the page is that it goes on filling.
      val asked = needed.asked - before
      (before + 1L until needed.asked by math.max(1L, asked / 40)).foreach { at =>
        val out = new Watched(failAt = Int.MaxValue)
        intercept[OutOfMemoryError](committed(changed(new FailingMemory(at)), out, executor))
        out.close()
        assertAsBefore()
        assert(out.failure.isEmpty)
      }
    }

    test(s"every write fails that $how does") {
      val whole = new Watched(failAt = Int.MaxValue)
      committed(changed(MemoryUse.Unlimited), whole, executor)
      assert(whole.writes > 3)
      (1 to whole.writes).foreach { at =>
        val out = new Watched(at)
        val e = intercept[IOException](committed(changed(MemoryUse.Unlimited), out, executor))
        assert(e.getMessage == s"write $at")
        out.close()
        assertAsBefore()
        assert(out.failure.isEmpty)
      }
    }
  }
}

object FailuresBesideSuite {
  private val rows = 40000L
  private val valueBytes = 48

  private val threads: Executor = work => new Thread(work, "committer").start()
  private val atOnce: Executor = work => work.run()

  /** A stream that fails at a write, and takes notice of what comes after it was closed. */
  private final class Watched(failAt: Int) extends OutputStream {
    @volatile private var isClosed = false
    @volatile private var late = Option.empty[String]
    @volatile var writes = 0

    def failure: Option[String] = late

    override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
      if (isClosed) late = Some("written to after it was closed")
      writes += 1
      if (writes == failAt) throw new IOException(s"write $failAt")
    }

    override def close(): Unit = isClosed = true
  }
}
