package io.holdfast.bench

import java.util.SplittableRandom

import org.apache.spark.sql.execution.streaming.state.{
  NoPrefixKeyStateEncoderSpec,
  PrefixKeyScanStateEncoderSpec,
  RangeKeyScanStateEncoderSpec,
  StateStore
}

import LongRows.scattered

/** What the state variables and timers of `transformWithState` do with their stores, as Spark 4.2 does
  * it, on stores of so many rows; nanoseconds of one operation, medians over rounds, after rounds that
  * are not counted. Where something changes there are two numbers: one of the operations alone, and one
  * of the whole batch, from the opening of the store to its commit.
  *
  * Arguments: provider, rows, changes (operations in a round), of (which kinds, all if it is not given).
  */
object FamilyOperations {
  private val WarmUp = 12
  private val Rounds = 9

  def measure(arguments: Arguments): Numbers = {
    val operations =
      new FamilyOperations(arguments.peer, arguments.long("rows"), arguments.int("changes"))
    val kinds = Seq[(String, () => Numbers)](
      "lists" -> (() => operations.lists),
      "maps" -> (() => operations.maps),
      "ranges" -> (() => operations.ranges),
      "timers" -> (() => operations.timers),
      "timesToLive" -> (() => operations.timesToLive))
    val of = arguments.text("of", kinds.map(_._1).mkString(",")).split(',')
    kinds.collect { case (kind, measure) if of.contains(kind) => measure() }.flatten
  }

  private def median(values: Seq[Long]): Double = values.sorted.apply(values.size / 2).toDouble

  private def nanos(body: => Unit): Long = {
    val start = System.nanoTime()
    body
    System.nanoTime() - start
  }
}

final private class FamilyOperations(peer: Peer, rows: Long, changes: Int) {
  import FamilyOperations._

  private val random = new SplittableRandom(42L)
  private val one = new LongRows(1)
  private val pair = new LongRows(2)
  // Of what is put, which is no part of the time.
  private val value = pair(1L, 2L).copy()
  private val empty = one(0L).copy()
  // Keeps results from being optimised away.
  private var seen = 0L

  /** Lists of ten values, and of a thousand. */
  def lists: Numbers = {
    val list =
      FamilyShape("list", one.schema, pair.schema, NoPrefixKeyStateEncoderSpec(one.schema), true)
    val short = reading(list)(fillLists(10)) { store => () =>
      readList(store, random.nextLong(rows / 10))
    }
    val long = reading(list, fewer = 100)(fillLists(1000)) { store => () =>
      readList(store, random.nextLong(rows / 1000))
    }
    val appended = changing("listAppend", list)(fillLists(10)) { store => _ =>
      val drawn = draw(rows / 10)
      i => store.merge(one(scattered(drawn(i))), value, "list")
    }
    Seq("listRead10Nanos" -> short, "listRead1000Nanos" -> long) ++ appended
  }

  private def fillLists(length: Int)(store: StateStore): Long => Unit = number =>
    store.merge(one(scattered(number % (rows / length))), value, "list")

  private def readList(store: StateStore, key: Long): Unit = {
    val values = store.valuesIterator(one(scattered(key)), "list")
    while (values.hasNext) seen += values.next().getLong(0)
  }

  /** Maps of ten values. */
  def maps: Numbers = {
    val map =
      FamilyShape("map", pair.schema, pair.schema, PrefixKeyScanStateEncoderSpec(pair.schema, 1))
    changing("mapUpdate", map)(store => number => putInMap(store, number)) { store => _ =>
      val drawn = draw(rows)
      i => putInMap(store, drawn(i))
    }
  }

  private def putInMap(store: StateStore, number: Long): Unit =
    store.put(pair(scattered(number / 10), number % 10), value, "map")

  /** Ranges of a hundred rows. */
  def ranges: Numbers = {
    val times = byTime("times")
    val nanos = reading(times, fewer = 10)(store =>
      number => store.put(pair(number, scattered(number)), empty, "times")) { store =>
      val from = new LongRows(2)
      () => {
        val start = random.nextLong(rows - 100)
        val found =
          store.rangeScan(Some(from(start, 0L)), Some(pair(start + 100, 0L)), "times")
        while (found.hasNext) seen += found.next().key.getLong(0)
        found.close()
      }
    }
    Seq("rangeScan100Nanos" -> nanos)
  }

  /** Timers that fire, with what is there for the next. */
  def timers: Numbers = {
    val byKey = FamilyShape(
      "$keyToTimestamp",
      pair.schema,
      one.schema,
      PrefixKeyScanStateEncoderSpec(pair.schema, 1))
    val times = byTime("$timestampToKey")
    def register(store: StateStore)(number: Long): Unit = {
      store.put(pair(scattered(number), number), empty, byKey.name)
      store.put(pair(number, scattered(number)), empty, times.name)
    }
    def fire(store: StateStore, time: Long, key: Long): Unit =
      if (store.get(pair(key, time), byKey.name) != null) {
        store.remove(pair(key, time), byKey.name)
        store.remove(pair(time, key), times.name)
      }
    expiring("timer", Seq(byKey, times), times.name)(register, fire)
  }

  /** Values whose time to live ends. */
  def timesToLive: Numbers = {
    val values =
      FamilyShape("value", one.schema, pair.schema, NoPrefixKeyStateEncoderSpec(one.schema))
    val times = byTime("$ttl_value")
    def update(store: StateStore)(number: Long): Unit = {
      store.put(one(scattered(number)), value, values.name)
      store.put(pair(number, scattered(number)), empty, times.name)
    }
    def expire(store: StateStore, time: Long, key: Long): Unit = {
      store.remove(one(key), values.name)
      store.remove(pair(time, key), times.name)
    }
    expiring("timeToLive", Seq(values, times), times.name)(update, expire)
  }

  private def byTime(name: String): FamilyShape =
    FamilyShape(name, pair.schema, one.schema, RangeKeyScanStateEncoderSpec(pair.schema, Seq(0)))

  // Before the clock starts: to draw a row is no part of what is done with it.
  private def draw(bound: Long): Array[Long] = Array.fill(changes)(random.nextLong(bound))

  /** Nanoseconds of one operation on a store that stays as it is. */
  private def reading(family: FamilyShape, fewer: Int = 1)(fill: StateStore => Long => Unit)(
      operation: StateStore => () => Unit): Double = withStore(Seq(family), fill) { store =>
    val count = math.max(1, changes / fewer)
    def round(): Long = {
      val opened = store.open()
      val read = operation(opened)
      val took = nanos((1 to count).foreach(_ => read()))
      opened.abort()
      took
    }
    (1 to WarmUp).foreach(_ => round())
    median((1 to Rounds).map(_ => round())) / count
  }

  private def changing(name: String, family: FamilyShape)(fill: StateStore => Long => Unit)(
      operations: StateStore => Int => Int => Unit): Numbers =
    withStore(Seq(family), fill) { store =>
      batches(name, store) { (opened, round) =>
        val operation = operations(opened)(round)
        nanos {
          var i = 0
          while (i < changes) {
            operation(i)
            i += 1
          }
        }
      }(_ => ())
    }

  /** Rows expire, the oldest first, and as many come in the batch after that. */
  private def expiring(name: String, families: Seq[FamilyShape], times: String)(
      put: StateStore => Long => Unit,
      expire: (StateStore, Long, Long) => Unit): Numbers =
    withStore(families, put) { store =>
      val until = new LongRows(2)
      batches(name, store) { (opened, round) =>
        nanos {
          val found =
            opened.rangeScan(None, Some(until((round + 1L) * changes, 0L).copy()), times)
          var expired = 0
          while (found.hasNext) {
            val key = found.next().key
            expire(opened, key.getLong(0), key.getLong(1))
            expired += 1
          }
          found.close()
          if (expired != changes) {
            throw new IllegalStateException(s"$expired of $changes rows expired")
          }
        }
      } { round =>
        val opened = store.open()
        val next = put(opened)
        (0 until changes).foreach(i => next(rows + round.toLong * changes + i))
        store.commit(opened)
      }
    }

  private def batches(name: String, store: FamilyStore)(change: (StateStore, Int) => Long)(
      after: Int => Unit): Numbers = {
    def round(number: Int): (Long, Long) = {
      val (opening, opened) = {
        val start = System.nanoTime()
        val opened = store.open()
        (System.nanoTime() - start, opened)
      }
      val operations = change(opened, number)
      val committing = nanos(store.commit(opened))
      after(number)
      (operations, opening + operations + committing)
    }
    (0 until WarmUp).foreach(round)
    val (operations, all) = (WarmUp until WarmUp + Rounds).map(round).unzip
    Seq(s"${name}Nanos" -> median(operations), s"${name}BatchNanos" -> median(all)).map {
      case (name, nanos) => name -> nanos / changes
    }
  }

  private def withStore[A](families: Seq[FamilyShape], fill: StateStore => Long => Unit)(
      body: FamilyStore => A): A = {
    val store = new FamilyStore(peer, families)
    try {
      store.fill(rows)(fill)
      body(store)
    } finally store.close()
  }
}
