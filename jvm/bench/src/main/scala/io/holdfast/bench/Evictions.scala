package io.holdfast.bench

import java.lang.management.ManagementFactory
import java.nio.{ByteBuffer, ByteOrder}
import java.util.SplittableRandom

import io.holdfast.table.{EventTime, RowCursor, RowRecord, Transaction, Version}

/** What it costs the engine to know the times of rows and to find those that have expired, without
  * Spark and without files: medians of processor time over rounds, of rows of 8 and 24 bytes with the time in the value.
  *
  * Arguments: rows, changes (rows that are put, and that expire, in a batch).
  */
object Evictions {
  private val WarmUp = 30
  private val Rounds = 41

  private val InValue = EventTime(inKey = false, EventTime.Column(2, 1))

  def measure(arguments: Arguments): Numbers = {
    val rows = arguments.long("rows")
    val changes = arguments.int("changes")
    new Evictions(rows, changes).all
  }
}

final private class Evictions(rows: Long, changes: Int) {
  import Evictions._

  // Keeps results from being optimised away.
  private var seen = 0L
  private val random = new SplittableRandom(42L)
  private val key = ByteBuffer.allocate(16).order(ByteOrder.nativeOrder())
  private val value = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder())

  def all: Numbers = {
    val known = filled(Some(InValue), identity)
    val unknown = filled(None, identity)
    puts(known, unknown) ++ walks(known, unknown) ++
      inTurn("inOrder", known, identity) ++
      inTurn(
        "shuffled",
        filled(Some(InValue), _ => random.nextLong(rows)),
        _ + random.nextLong(rows))
  }

  // Row numbers are times, unless they are given others.
  private def filled(eventTime: Option[EventTime], timeOf: Long => Long): Version = {
    var version = Version.empty
    var next = 0L
    while (next < rows) {
      val transaction = version.open(eventTime = eventTime)
      val end = math.min(rows, next + 250000L)
      while (next < end) {
        put(transaction, next, timeOf(next))
        next += 1
      }
      version = transaction.commit()
    }
    version
  }

  private def put(rows: Transaction, number: Long, time: Long): Unit = {
    key.putLong(8, number * 0x9e3779b97f4a7c15L)
    value.putLong(16, time)
    rows.put(key.array, 0, key.capacity, value.array, 0, value.capacity)
  }

  private def puts(known: Version, unknown: Version): Numbers = {
    val times = turns(Seq(known, unknown)) { version =>
      val drawn = Array.fill(changes)(random.nextLong(rows))
      val transaction = version.open()
      val took = nanos(drawn.foreach(number => put(transaction, number, number)))
      transaction.abort()
      took / changes
    }
    Seq("putTimedNanos" -> times(0), "putNanos" -> times(1))
  }

  private def walks(known: Version, unknown: Version): Numbers = {
    val walks = Seq[Version => RowCursor](
      _ => unknown.cursor(),
      _ => unknown.cursorUpTo(InValue, Long.MaxValue),
      _ => known.cursorUpTo(InValue, -1L))
    val overwritten = {
      val transaction = unknown.open()
      (0L until rows / 5).foreach(_ => put(transaction, random.nextLong(rows), 0L))
      transaction.commit()
    }
    val sparse = Seq[Version => RowCursor](
      _ => overwritten.cursor(),
      _ => overwritten.cursorUpTo(InValue, Long.MaxValue),
      _ => overwritten.open().cursorUpTo(InValue, Long.MaxValue),
      _ => overwritten.cursorUpTo(InValue, -1L))
    val times = turns(walks ++ sparse) { walk =>
      nanos {
        // An operator reads every row that it is shown.
        val cursor = walk(known)
        while (cursor.next()) {
          seen += InValue.read(
            cursor.page,
            RowRecord.keyOffset(cursor.offset),
            RowRecord.keyLength(cursor.page, cursor.offset),
            cursor.page,
            RowRecord.valueOffset(cursor.page, cursor.offset),
            RowRecord.valueLength(cursor.page, cursor.offset))
        }
      }
    }
    Seq(
      "walkMicros" -> times(0) / 1000,
      "walkUpToAllMicros" -> times(1) / 1000,
      "walkUpToNoneMicros" -> times(2) / 1000,
      "sparseWalkMicros" -> times(3) / 1000,
      "sparseWalkUpToAllMicros" -> times(4) / 1000,
      "sparseWalkUpToAllToRemoveMicros" -> times(5) / 1000,
      "sparseWalkUnknownUpToNoneMicros" -> times(6) / 1000)
  }

  // Batches that put new rows at the end and remove the oldest.
  private def inTurn(name: String, first: Version, timeOf: Long => Long): Numbers = {
    var version = first
    var now = rows
    var looked = 0L
    var removed = 0L
    def batch(): (Double, Double, Double) = {
      val transaction = version.open()
      val putting = nanos((1 to changes).foreach { _ =>
        put(transaction, now, timeOf(now))
        now += 1
      })
      val evicting = nanos {
        val cursor = transaction.cursorUpTo(InValue, now - rows - 1)
        while (cursor.next()) {
          transaction.remove(
            cursor.page,
            RowRecord.keyOffset(cursor.offset),
            RowRecord.keyLength(cursor.page, cursor.offset))
          removed += 1
        }
        looked += cursor.rowsLookedAt
      }
      val committing = nanos { version = transaction.commit() }
      (putting, evicting, committing)
    }
    (1 to WarmUp).foreach(_ => batch())
    looked = 0L
    removed = 0L
    val times = (1 to Rounds).map(_ => batch())
    Seq(
      s"${name}PutMicros" -> median(times.map(_._1)) / 1000,
      s"${name}EvictMicros" -> median(times.map(_._2)) / 1000,
      s"${name}CommitMicros" -> median(times.map(_._3)) / 1000,
      s"${name}LookedForEachRemoved" -> looked.toDouble / math.max(1L, removed))
  }

  private def turns[A](all: Seq[A])(measured: A => Double): Seq[Double] = {
    (1 to WarmUp).foreach(_ => all.foreach(measured))
    (1 to Rounds).map(_ => all.map(measured)).transpose.map(median)
  }

  private def median(values: Seq[Double]): Double = values.sorted.apply(values.size / 2)

  // Of the processor: nothing here waits for anything else.
  private def nanos(body: => Unit): Double = {
    val threads = ManagementFactory.getThreadMXBean
    val start = threads.getCurrentThreadCpuTime
    body
    (threads.getCurrentThreadCpuTime - start).toDouble
  }
}
