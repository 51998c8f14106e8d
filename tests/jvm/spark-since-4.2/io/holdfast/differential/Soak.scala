package io.holdfast.differential

import java.nio.file.{Files, Paths}
import java.time.Duration

import scala.annotation.tailrec

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.scalacheck.Test
import org.scalacheck.rng.Seed
import org.scalacheck.util.Pretty

/** Runs random scripts on Spark's default provider and on Holdfast side by side until one differs or
  * the time is over: what `./dev soak` starts.
  */
object Soak {

  /** The state of a soak.
    *
    * @param seed
    *   seed of the scripts that come next
    * @param scripts
    *   how many there have been
    */
  private final case class Progress(seed: Long, scripts: Long, started: Long) {
    def elapsed: Duration = Duration.ofNanos(System.nanoTime() - started)

    override def toString: String = {
      val rate = scripts / elapsed.toSeconds.max(1)
      f"${Soak.show(elapsed)}  $scripts%,d scripts, $rate%,d a second, no difference"
    }
  }

  /** Scripts of one seed. */
  private val Together = 100

  private val Threads = 2

  private val ReportEvery = Duration.ofSeconds(10)

  /** @param arguments
    *   the seed, and the minutes after which it ends; without them it ends at the first difference
    *   only
    */
  def main(arguments: Array[String]): Unit = {
    // Every commit and load says something, and a soak may run for days.
    Configurator.setRootLevel(Level.OFF)
    Files.createDirectories(Paths.get(sys.props("java.io.tmpdir")))
    val seed = arguments(0).toLong
    val end = arguments.lift(1).map(minutes => Duration.ofMillis((minutes.toDouble * 60000).toLong))
    println(s"seed $seed" + end.fold(", until a script differs")(time => s", for ${show(time)}"))
    run(Progress(seed, 0L, System.nanoTime()), end, ReportEvery)
  }

  @tailrec
  private def run(progress: Progress, end: Option[Duration], nextReport: Duration): Unit = {
    val parameters = Test.Parameters.default
      .withMinSuccessfulTests(Together)
      .withWorkers(Threads)
      .withInitialSeed(Seed(progress.seed))
    val result = Test.check(parameters, DifferentialSuite.same)
    if (!result.passed) {
      println(Pretty.pretty(result))
      println(s"To see it again: ./dev soak --seed ${progress.seed}")
      sys.exit(1)
    }
    val after =
      progress.copy(seed = progress.seed + 1, scripts = progress.scripts + result.succeeded)
    val ended = end.exists(_.compareTo(after.elapsed) <= 0)
    val reports = ended || after.elapsed.compareTo(nextReport) >= 0
    if (reports) println(after)
    if (!ended) run(after, end, if (reports) after.elapsed.plus(ReportEvery) else nextReport)
  }

  private def show(time: Duration): String =
    f"${time.toHours}%d:${time.toMinutesPart}%02d:${time.toSecondsPart}%02d"
}
