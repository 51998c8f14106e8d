package io.holdfast.bench

import java.util.SplittableRandom

import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateStore}

/** The operations of a state store of a size, in nanoseconds each; medians over rounds, after rounds
  * that are not counted. Opening and ending the stores that operations run on is no part of their
  * time.
  *
  * Arguments: provider, kind, rows, changes (operations in a round).
  */
object Operations {
  private val WarmUp = 12
  private val Rounds = 9

  def measure(arguments: Arguments): Numbers = {
    val loaded = new LoadedStore(arguments.peer, arguments.kind, arguments.long("rows"))
    try new Operations(loaded, arguments.long("rows"), arguments.int("changes")).all
    finally loaded.close()
  }

  /** Median nanoseconds of a round. */
  private def median(round: Int => Long): Double = {
    (1 to WarmUp).foreach(round)
    (1 to Rounds).map(round).sorted.apply(Rounds / 2).toDouble
  }

  private def nanos(body: => Unit): Long = {
    val start = System.nanoTime()
    body
    System.nanoTime() - start
  }
}

final private class Operations(loaded: LoadedStore, rows: Long, changes: Int) {
  import Operations._

  private val random = new SplittableRandom(42L)
  private val kind = loaded.kind
  // Keeps results from being optimised away.
  private var seen = 0L

  def all: Numbers = Seq(
    // Of a version that was just committed: after an abort some providers load it again.
    "openForWriteNanos" -> opening(loaded.open())(loaded.commitOpen),
    "openForReadNanos" -> opening(loaded.provider.getReadStore(loaded.version))(_.release()),
    "getHitNanos" -> reading { store =>
      val drawn = draw()
      i => see(store.get(kind.key(drawn(i))))
    },
    "getMissNanos" -> reading { store =>
      val drawn = draw()
      i => see(store.get(kind.key(rows + drawn(i))))
    },
    "putOverwriteNanos" -> writing { store =>
      val drawn = draw()
      i => store.put(kind.key(drawn(i)), kind.value(i.toLong))
    },
    "putNewNanos" -> writing(store => i => store.put(kind.key(rows + i), kind.value(i.toLong))),
    "removeNanos" -> writing { store =>
      val drawn = draw()
      i => store.remove(kind.key(drawn(i)))
    },
    "abortNanos" -> ending(_.abort()),
    "commitNanos" -> ending(loaded.commitOpen),
    "iterateNanos" -> iterating) ++ Option.when(kind.prefix.isDefined)(
    "prefixScanNanos" -> reading { store =>
      val drawn = draw()
      i => scan(store, drawn(i))
    })

  // Before the clock starts: to draw a row is no part of what is done with it.
  private def draw(): Array[Long] = Array.fill(changes)(random.nextLong(rows))

  private def opening[A](open: => A)(end: A => Unit): Double = median { _ =>
    val start = System.nanoTime()
    val store = open
    val time = System.nanoTime() - start
    end(store)
    time
  }

  private def reading(operation: ReadStateStore => Int => Unit): Double = median { _ =>
    val store = loaded.provider.getReadStore(loaded.version)
    try repeated(operation(store))
    finally store.release()
  } / changes

  private def writing(operation: StateStore => Int => Unit): Double = median { _ =>
    val store = loaded.open()
    try repeated(operation(store))
    finally store.abort()
  } / changes

  /** The end of a store with changes. */
  private def ending(end: StateStore => Unit): Double = median { _ =>
    val store = loaded.open()
    (0 until changes).foreach { i =>
      val number = random.nextLong(rows)
      store.put(kind.key(number), kind.value(number + i))
    }
    nanos(end(store))
  }

  private def iterating: Double = median { _ =>
    val store = loaded.provider.getReadStore(loaded.version)
    try
      nanos {
        val iterator = store.iterator()
        while (iterator.hasNext) see(iterator.next())
        iterator.close()
      }
    finally store.release()
  } / rows

  private def scan(store: ReadStateStore, row: Long): Unit = {
    val iterator = store.prefixScan(kind.prefix.get(row))
    while (iterator.hasNext) see(iterator.next())
    iterator.close()
  }

  private def repeated(operation: Int => Unit): Long = nanos {
    var i = 0
    while (i < changes) {
      operation(i)
      i += 1
    }
  }

  private def see(result: Any): Unit = if (result == null) seen += 1
}
