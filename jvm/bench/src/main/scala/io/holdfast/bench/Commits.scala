package io.holdfast.bench

import java.util.SplittableRandom

import org.apache.spark.sql.execution.streaming.state.StateStore

/** Batches of many changes with their commit, in nanoseconds for each change: some providers write
  * their delta while rows are put, others in the commit. Medians over rounds, after rounds that are not
  * counted; opening is no part of the time.
  *
  * Arguments: provider, kind, rows, changes (random rows that a batch puts or removes); rounds.
  */
object Commits {
  private val WarmUp = 8
  private val Rounds = 15

  // Half of a store of a million rows, a hundred thousand in each.
  private val BatchesInTurn = 5

  def measure(arguments: Arguments): Numbers = {
    val rows = arguments.long("rows")
    val loaded = new LoadedStore(arguments.peer, arguments.kind, rows)
    try new Commits(loaded, rows, arguments.int("changes"), arguments.int("rounds", Rounds)).all
    finally loaded.close()
  }
}

final private class Commits(loaded: LoadedStore, rows: Long, changes: Int, rounds: Int) {
  import Commits._

  private val kind = loaded.kind
  private val random = new SplittableRandom(42L)
  private val order = Array.tabulate(rows.toInt)(_.toLong)

  def all: Numbers =
    numbers("put")(store => row => store.put(kind.key(row), kind.value(row + 1))) ++
      numbers("remove")(store => row => store.remove(kind.key(row)))

  private def numbers(name: String)(change: StateStore => Long => Unit): Numbers = {
    val took = (1 to WarmUp + rounds).map(round(_, change)).drop(WarmUp)
    val together = took.map { case (changing, committing) => changing + committing }
    Seq(
      s"${name}Nanos" -> median(took.map(_._1)),
      s"${name}CommitNanos" -> median(took.map(_._2)),
      s"${name}WithCommitNanos" -> median(together),
      s"${name}WithCommitMeanNanos" -> together.sum / took.size)
  }

  // Each batch changes other rows than those before it, all over the store, until the rows are put again.
  private def round(number: Int, change: StateStore => Long => Unit): (Double, Double) = {
    val inTurn = number % BatchesInTurn
    if (inTurn == 0) putAgain()
    val drawn = order.slice(inTurn * changes, (inTurn + 1) * changes)
    val store = loaded.open()
    val changed = change(store)
    val changing = nanos {
      var i = 0
      while (i < drawn.length) {
        changed(drawn(i))
        i += 1
      }
    }
    val committing = nanos(loaded.commitOpen(store))
    (changing, committing)
  }

  // In another order each time: pages are not emptied one after the other.
  private def putAgain(): Unit = {
    loaded.commit { store =>
      order.take(BatchesInTurn * changes).foreach { row =>
        store.put(kind.key(row), kind.value(row))
      }
    }
    loaded.provider.doMaintenance()
    shuffle()
  }

  private def shuffle(): Unit = order.indices.reverse.foreach { i =>
    val other = random.nextInt(i + 1)
    val row = order(i)
    order(i) = order(other)
    order(other) = row
  }

  private def median(values: Seq[Double]): Double = values.sorted.apply(values.size / 2)

  private def nanos(body: => Unit): Double = {
    val start = System.nanoTime()
    body
    (System.nanoTime() - start).toDouble / changes
  }
}
