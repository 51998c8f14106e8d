package io.holdfast.provider

import java.io.{FilterOutputStream, IOException, OutputStream}
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Random

import org.apache.spark.{SparkConf, SparkException}
import org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager
import org.apache.spark.io.LZ4CompressionCodec
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit._

/** A full disk need not be an exception: Hadoop's local file systems throw an `FSError`. Nor does a file
  * that cannot be written keep its task: with threads of its own Spark's lzf would pass over such an error,
  * and not be closed after an interrupt.
  */
class WriteErrorsSuite extends AnyFunSuite {
  import WriteErrorsSuite._

  for (codec <- Provider.codecs) {
    test(s"no $codec file appears of which a part could not be written") {
      val disk = new SometimesFull
      TestStore.use(Provider().codec(codec).watched(disk)) { store =>
        store.commit(0, Put("a", 1))
        disk.fullAtWrite(1)
        val failed = intercept[SparkException](store.commit(1, manyRows: _*))
        assert(Refusals.is(failed, "CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT"))
        assert(store.fileNames == Seq("1.delta"))

        assert(store.commit(1, manyRows: _*) == 2)
        assert(store.stateFromFiles(2).size == 1 + manyRows.size)
      }
    }
  }

  for (codec <- Provider.codecs) {
    test(s"a commit that is interrupted while it writes $codec ends, and leaves no file") {
      // What the thread waits for when it is interrupted differs from time to time.
      (1 to 6).foreach { _ =>
        val gate = new Gate(FileOperation.Write, "2.delta")
        TestStore.use(Provider().codec(codec).watched(gate)) { store =>
          store.commit(0, Put("a", 1))
          val committing = new Background(store.commit(1, largeRows: _*))
          gate.awaitArrival()
          committing.awaitWaiting()
          committing.interrupt()
          gate.open()
          intercept[SparkException](committing.result())
          assert(store.fileNames == Seq("1.delta"))

          assert(store.commit(1, manyRows: _*) == 2)
          assert(store.stateFromFiles(2).size == 1 + manyRows.size)
        }
      }
    }
  }

  for (failure <- Seq(new IOException("no answer"), new InterruptedException))
    test(s"a file that cannot be cancelled leaves no codec open: $failure") {
      val disk = new FullAndStuck(failure)
      TestStore.use(Provider().codec(classOf[CountedCodec].getName).watched(disk)) { store =>
        store.commit(0, Put("a", 1))
        assert(CountedCodec.open.get == 0)
        disk.isFull = true
        val failed = intercept[SparkException](store.commit(1, manyRows: _*))
        assert(Thread.interrupted() == failure.isInstanceOf[InterruptedException])
        assert(failed.getMessage.contains("No space left on device"))
        assert(CountedCodec.open.get == 0)

        disk.isFull = false
        assert(store.commit(1, manyRows: _*) == 2)
        assert(store.state(2).size == 1 + manyRows.size)
      }
    }

  test("no version is committed whose upload failed, where the file manager passes over that") {
    val network = new SometimesBroken
    val provider = Provider()
      .watched(network)
      .copy(fileManager = classOf[AbortableStreamBasedCheckpointFileManager].getName)
    TestStore.use(provider) { store =>
      store.commit(0, Put("a", 1))
      network.isBroken = true
      val failed = intercept[SparkException](store.commit(1, Put("b", 2)))
      assert(Refusals.is(failed, "CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT"))
      assert(store.fileNames == Seq("1.delta"))

      network.isBroken = false
      assert(store.commit(1, Put("b", 3)) == 2)
      assert(store.stateFromFiles(2).size == 2)
    }
  }
}

object WriteErrorsSuite {

  // More than codecs keep before they write, and nothing that they could make smaller.
  private val manyRows: Seq[Put] = {
    val random = new Random(1)
    (1 to 40).map(i => Put(s"k$i", i.toLong, random.alphanumeric.take(20000).mkString))
  }

  // More than a codec that compresses in threads of its own takes before any of it is written.
  private val largeRows: Seq[Put] = (0 until 25).flatMap { copy =>
    manyRows.map(row => row.copy(name = s"${row.name} $copy"))
  }

  private final class FullAndStuck(failure: Exception) extends FileOperations {
    @volatile var isFull = false

    override def around[A](operation: FileOperation)(proceed: => A): A = operation.kind match {
      case FileOperation.Write if isFull => throw new IOException("No space left on device")
      case FileOperation.Cancel =>
        val _ = proceed
        throw failure
      case _ => proceed
    }
  }

  private final class SometimesBroken extends FileOperations {
    @volatile var isBroken = false

    override def around[A](operation: FileOperation)(proceed: => A): A =
      if (operation.kind == FileOperation.Finish && isBroken) throw new IOException("no answer")
      else proceed
  }

  private final class DiskFull extends Error("No space left on device")

  private final class SometimesFull extends FileOperations {
    private val until = new AtomicInteger(Int.MaxValue)

    /** Fails one write, from 0, and none after it. */
    def fullAtWrite(number: Int): Unit = until.set(number)

    override def around[A](operation: FileOperation)(proceed: => A): A =
      if (operation.kind == FileOperation.Write && until.getAndDecrement() == 0) throw new DiskFull
      else proceed
  }
}

/** A codec that knows how many of its streams are open. */
class CountedCodec(conf: SparkConf) extends LZ4CompressionCodec(conf) {
  override def compressedOutputStream(file: OutputStream): OutputStream = {
    CountedCodec.open.incrementAndGet()
    new FilterOutputStream(super.compressedOutputStream(file)) {
      override def write(bytes: Array[Byte], offset: Int, length: Int): Unit =
        out.write(bytes, offset, length)

      override def close(): Unit =
        try out.close()
        finally { val _ = CountedCodec.open.decrementAndGet() }
    }
  }
}

object CountedCodec {
  val open = new AtomicInteger
}
