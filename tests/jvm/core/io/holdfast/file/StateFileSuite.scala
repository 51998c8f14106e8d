package io.holdfast.file

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, InputStream}

import org.scalatest.funsuite.AnyFunSuite

import io.holdfast.table.{Keys, RowRecord, Rows, Transaction, Version}
import io.holdfast.testkit.SeededTests

/** Records of deltas and snapshots: round trips, and files that are not what they should be. */
class StateFileSuite extends AnyFunSuite with SeededTests {

  private val delta = StateFile("1.delta", 1L, StateFile.Delta)
  private val snapshot = StateFile("1.snapshot", 1L, StateFile.Snapshot)

  private def written(checksums: Boolean)(write: RecordWriter => Unit): Array[Byte] = {
    val out = new ByteArrayOutputStream
    val writer = new RecordWriter(out, checksums)
    write(writer)
    writer.finish()
    assert(writer.bytes === out.size)
    out.toByteArray
  }

  private def replayed(
      bytes: Array[Byte],
      file: StateFile,
      checksums: Boolean,
      onto: Version = Version.empty): Version = {
    val rows = onto.open()
    Replay.into(
      rows,
      new RecordReader(new ByteArrayInputStream(bytes), file, checksums),
      checksums,
      (_, _, _, _, _) => ())
    rows.commit()
  }

  private def content(version: Version): Map[Seq[Byte], Seq[Byte]] = {
    val cursor = version.cursor()
    Iterator
      .continually(cursor.next())
      .takeWhile(identity)
      .map { _ =>
        val (page, at) = (cursor.page, cursor.offset)
        val key = RowRecord.keyOffset(at)
        val value = RowRecord.valueOffset(page, at)
        page.slice(key, key + RowRecord.keyLength(page, at)).toSeq ->
          page.slice(value, value + RowRecord.valueLength(page, at)).toSeq
      }
      .toMap
  }

  private def put(rows: Transaction, number: Long, value: Array[Byte], checksums: Boolean): Unit = {
    val key = Keys.key(number)
    val trailer = if (checksums) RowChecksum.TrailerBytes else 0
    val stored = java.util.Arrays.copyOf(value, value.length + trailer)
    if (checksums) {
      val checksum = RowChecksum.of(key, 0, key.length, value, 0, value.length)
      RowChecksum.putTrailer(stored, value.length, checksum)
    }
    rows.put(key, 0, key.length, stored, 0, stored.length)
  }

  Seq(false, true).foreach { checksums =>
    val how = if (checksums) "with row checksums" else "without row checksums"

    seeded(s"a delta and a snapshot lead to the version they were written of, $how") { random =>
      // Some values are larger than the buffers of reader and writer.
      def value(): Array[Byte] =
        random.nextBytes(8 * (if (random.nextInt(20) == 0) 20000 else random.nextInt(8)))
      val base = Keys.changed(Version.empty) { t =>
        (0L until 200L).foreach(put(t, _, value(), checksums))
      }
      val transaction = base.open()
      (100L until 260L).foreach(put(transaction, _, value(), checksums))
      (0L until 50L).foreach(Keys.remove(transaction, _))
      val deltaBytes = written(checksums)(transaction.changes().foreach(_))
      val next = transaction.commit()
      val snapshotBytes = written(checksums)(_.putAll(next.cursor()))

      assert(content(replayed(deltaBytes, delta, checksums, base)) === content(next))
      assert(content(replayed(snapshotBytes, snapshot, checksums)) === content(next))
    }
  }

  test("values of every size are read as they were written, whatever came before them") {
    // Around every size that the buffer of a writer may have.
    val sizes = (3 to 17).map(1 << _).flatMap(size => Seq(size - 8, size, size + 8))
    val orders = Seq(sizes, sizes.reverse, sizes.sortBy(_ % 1000)) ++ sizes.map(Seq(_))
    orders.foreach { order =>
      val version = Keys.changed(Version.empty) { rows =>
        order.zipWithIndex.foreach { case (size, i) =>
          put(rows, i.toLong, Array.fill(size)(i.toByte), checksums = false)
        }
      }
      val bytes = written(checksums = false)(_.putAll(version.cursor()))
      val file = StateFile("values", 1L, StateFile.Snapshot)
      assert(content(replayed(bytes, file, checksums = false)) === content(version))
    }
  }

  private def small(checksums: Boolean): Array[Byte] = {
    val base = Keys.changed(Version.empty) { t =>
      (0L until 3L).foreach(put(t, _, new Array[Byte](16), checksums))
    }
    val transaction = base.open()
    put(transaction, 1L, Array.fill[Byte](8)(7), checksums)
    put(transaction, 9L, Array.fill[Byte](24)(8), checksums)
    Keys.remove(transaction, 2L)
    written(checksums)(transaction.changes().foreach(_))
  }

  test("a file cut at any byte is an error that names file, version and place") {
    for (checksums <- Seq(false, true); bytes = small(checksums); length <- bytes.indices) {
      val e = intercept[StateFileException](replayed(bytes.take(length), delta, checksums))
      assert(e.isInstanceOf[TruncatedFileException], s"cut at $length")
      assert(e.offset === length)
      assert(e.getMessage.contains("1.delta") && e.getMessage.contains("version 1"))
    }
  }

  test("a file with any byte changed is an error of ours or a file that can be read") {
    val bytes = small(checksums = false)
    for (at <- bytes.indices; change <- Seq(0x01, 0x80, 0xff)) {
      val damaged = bytes.clone()
      damaged(at) = (damaged(at) ^ change).toByte
      try replayed(damaged, delta, checksums = false)
      catch { case e: StateFileException => assert(e.getMessage.contains("expected")) }
    }
  }

  test("with row checksums a changed byte of a row is found") {
    val bytes = small(checksums = true)
    val intact = content(replayed(bytes, delta, checksums = true))
    for (at <- bytes.indices) {
      val damaged = bytes.clone()
      damaged(at) = (damaged(at) ^ 0x10).toByte
      val found =
        try Some(content(replayed(damaged, delta, checksums = true)))
        catch { case _: StateFileException => None }
      // What still reads as a file must not hold other rows: bytes behind a row's length may end it.
      assert(
        found.forall(_.forall { case (key, value) => intact.get(key).contains(value) }),
        s"byte $at")
    }
  }

  test("a length is not believed before its bytes have come") {
    Seq(Int.MaxValue, Int.MaxValue - 8, 1 << 30, 1 << 29).foreach { length =>
      val bytes = java.nio.ByteBuffer.allocate(4 + 64).putInt(length).array()
      intercept[StateFileException](replayed(bytes, delta, checksums = false))
      val value =
        java.nio.ByteBuffer.allocate(4 + 8 + 4 + 64).putInt(8).putLong(1L).putInt(length).array()
      intercept[StateFileException](replayed(value, delta, checksums = false))
    }
    // The reader's memory follows what arrives: a claim of 1 GiB with 1 MiB behind it stays small.
    val stream = new CountingStream(1 << 20)
    intercept[TruncatedFileException] {
      new RecordReader(stream, delta, rowChecksums = false).next()
    }
    assert(stream.largestRequest <= (4 << 20), s"asked for ${stream.largestRequest} bytes at once")
  }

  test("a short file is read without much memory, and a long one in large pieces") {
    def largestRequest(records: Int): Int = {
      val bytes = java.nio.ByteBuffer.allocate(24 * records + 4)
      (1 to records).foreach(i => bytes.putInt(8).putLong(i.toLong).putInt(8).putLong(0L))
      bytes.putInt(StateFile.EndMarker)
      var largest = 0
      val stream = new ByteArrayInputStream(bytes.array) {
        override def read(into: Array[Byte], offset: Int, wanted: Int): Int = {
          largest = math.max(largest, wanted)
          super.read(into, offset, wanted)
        }
      }
      val reader = new RecordReader(stream, delta, rowChecksums = false)
      assert(Iterator.continually(reader.next()).takeWhile(identity).size == records)
      largest
    }
    assert(largestRequest(3) <= (4 << 10))
    assert(largestRequest(10000) > (32 << 10))
  }

  test("wrong lengths are named") {
    def bytes(ints: Int*): Array[Byte] = {
      val buffer = java.nio.ByteBuffer.allocate(4 * ints.size)
      ints.foreach(buffer.putInt)
      buffer.array()
    }
    val key = intercept[InvalidKeyLengthException](replayed(bytes(-5), delta, checksums = false))
    assert(key.length === -5)
    val value = intercept[InvalidValueLengthException] {
      replayed(bytes(8, 0, 0, -3), snapshot, checksums = false)
    }
    assert(value.length === -3)
    intercept[InvalidRowException](replayed(bytes(4, 0, 8, 0, 0, -1), delta, checksums = false))
  }

  test("a value that is no multiple of 8 loses the rest, as Spark reads files from before 2.3") {
    val buffer = java.nio.ByteBuffer.allocate(64)
    buffer.putInt(8).putLong(5L).putInt(12).putLong(77L).putInt(0).putInt(-1)
    val version = replayed(buffer.array().take(buffer.position()), delta, checksums = false)
    assert(content(version).values.map(_.size).toList === List(8))
  }

  test("what follows the end marker is not looked at") {
    val version =
      replayed(small(checksums = false) ++ Array.fill[Byte](9)(-7), delta, checksums = false)
    assert(version.keyCount === 2)
    assert(version.find(Keys.key(1L), 0, Keys.bytes) != Rows.Absent)
  }

  /** A key length of 1 GiB and some zeros; remembers the largest read that it was asked for. */
  private final class CountingStream(length: Int) extends InputStream {
    private val head = java.nio.ByteBuffer.allocate(4).putInt(1 << 30).array()
    private var delivered = 0
    var largestRequest = 0

    override def read(): Int = throw new UnsupportedOperationException("reads come in blocks")

    override def read(into: Array[Byte], offset: Int, wanted: Int): Int = {
      largestRequest = math.max(largestRequest, wanted)
      val count = math.min(wanted, length - delivered)
      (0 until count).foreach(i =>
        into(offset + i) = if (delivered + i < 4) head(delivered + i) else 0)
      delivered += count
      if (count == 0) -1 else count
    }
  }
}
