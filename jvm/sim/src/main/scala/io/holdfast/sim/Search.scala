package io.holdfast.sim

import io.holdfast.sim.run.{Defect, History, Outcome}

/** Simulates the histories of one seed after the other, in one or several threads, which take the seeds
  * in turns. Each history is the same in whichever thread it is simulated.
  *
  * @param first
  *   the first seed
  * @param histories
  *   how many at most
  * @param minutes
  *   how long at most
  * @param tell
  *   is told of each history that goes wrong, and every minute how far it is
  */
final class Search(
    first: Long,
    histories: Long,
    minutes: Double,
    defect: Option[Defect],
    tell: String => Unit) {
  import Search._

  private[this] val begun = System.nanoTime()
  private[this] val sums = new Totals
  private[this] var begunSoFar = 0L
  private[this] var told = 0L
  private[this] var broken = Option.empty[Throwable]

  /** @return what the histories had in them */
  def run(threads: Int): Totals = {
    val workers = Vector.tabulate(threads)(i => new Thread(() => work(), s"histories-$i"))
    workers.foreach(_.start())
    workers.foreach(_.join())
    broken.foreach(throw _)
    tell(sums.describe(minutesSince))
    sums
  }

  private[this] def work(): Unit =
    try
      Iterator.continually(nextSeed()).takeWhile(_.isDefined).flatten.foreach { seed =>
        add(History.of(seed, defect))
      }
    catch { case e: Throwable => synchronized { broken = Some(e) } }

  private[this] def nextSeed(): Option[Long] = synchronized {
    val goesOn = begunSoFar < histories && minutesSince < minutes && sums.failures < MostFailures
    Option.when(goesOn && broken.isEmpty) {
      begunSoFar += 1
      first + begunSoFar - 1
    }
  }

  private[this] def add(outcome: Outcome): Unit = synchronized {
    sums.add(outcome)
    outcome.failure.foreach(_ => tell(Simulator.describe(outcome, defect)))
    if (minutesSince.toLong > told) {
      told = minutesSince.toLong
      tell(sums.describe(minutesSince))
    }
  }

  private[this] def minutesSince: Double = (System.nanoTime() - begun) / 60e9
}

private object Search {
  private val MostFailures = 20
}
