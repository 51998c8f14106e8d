package io.holdfast.checkpoint

import java.io.{InputStream, OutputStream}

import scala.util.control.NonFatal

import org.apache.spark.SparkConf
import org.apache.spark.io.LZ4CompressionCodec
import org.apache.spark.sql.execution.streaming.state.holdfast.SparkInternals
import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.testkit.{Provider, Put, StateFileBytes, TestRows, TestStore}

/** Files that no provider writes, but Spark's default provider reads, are read as it reads them. */
class UnusualFilesSuite extends AnyFunSuite {

  /** Writes a delta with Spark's provider, changes its bytes, and reads it.
    *
    * @return
    *   what it held before; and what each provider reads of it, if it does
    */
  private def read(codec: String, rows: Int, by: String*)(
      change: Array[Byte] => Array[Byte]): (TestRows.State, Seq[Option[TestRows.State]]) =
    TestStore.use(Provider(Provider.Spark).codec(codec)) { store =>
      store.commit(0, (1 to rows).map(i => Put("a word", i, "a note")): _*)
      val state = store.state(1)
      store.overwrite("1.delta", change(store.bytes("1.delta")))
      val found = by.map { className =>
        try Some(store.stateFromFiles(1, className))
        catch { case NonFatal(_) => None }
      }
      (state, found)
    }

  private def readByBoth(codec: String, rows: Int = 50)(
      change: Array[Byte] => Array[Byte]): Option[Boolean] = {
    val (state, Seq(spark, holdfast)) =
      read(codec, rows, Provider.Spark, Provider.Holdfast)(change): @unchecked
    assert(holdfast == spark)
    spark.map(_ == state)
  }

  for (codec <- SparkInternals.CodecNames) {
    test(s"$codec: what follows the end of a file is not looked at") {
      for (rows <- Seq(0, 1, 3, 500); more <- Seq(1, 3, 4, 20, 100); byte <- Seq(0, -1)) {
        assert(readByBoth(codec, rows)(_ ++ Array.fill(more)(byte.toByte)).contains(true))
      }
    }

    test(s"$codec: a file may be several streams") {
      for (length <- Seq(0, 1, 50, 400)) {
        assert(readByBoth(codec) { file =>
          val (first, second) = StateFileBytes.decompressed(codec, file).splitAt(length)
          StateFileBytes.compressed(codec, first) ++ StateFileBytes.compressed(codec, second)
        }.contains(true))
      }
    }
  }

  for (codec <- Seq("lz4", "snappy")) {
    test(s"$codec: as many streams as there are may be empty") {
      val (state, found) = read(codec, 50, Provider.Holdfast) { file =>
        val empty = StateFileBytes.compressed(codec, Array.emptyByteArray)
        Array.fill(100000)(empty).flatten ++ file
      }
      assert(found == Seq(Some(state)))
    }
  }

  test("a codec that extends one of Spark's is another one") {
    val codec = new MarkedCodec(new SparkConf(false))
    assert(SparkInternals.shortName(codec) == classOf[MarkedCodec].getName)
    assert(readByBoth(classOf[MarkedCodec].getName)(identity).contains(true))
  }
}

/** A codec of a user's: that of Spark, with a byte in front. */
class MarkedCodec(conf: SparkConf) extends LZ4CompressionCodec(conf) {

  override def compressedOutputStream(out: OutputStream): OutputStream = {
    out.write(42)
    super.compressedOutputStream(out)
  }

  override def compressedInputStream(in: InputStream): InputStream = {
    require(in.read() == 42)
    super.compressedInputStream(in)
  }
}
