package io.holdfast.sim

import io.holdfast.sim.run.{Defect, History, Outcome}

/** The command `./dev sim`: `--seed N` replays one history and shows it, `--histories N` and `--minutes M`
  * say how many are simulated, `--from N` with which seed they begin, `--threads N` how many at a time.
  */
object Simulator {

  def main(arguments: Array[String]): Unit = {
    val options = arguments.grouped(2).collect { case Array(name, value) => name -> value }.toMap
    val defect = options.get("--defect").map { name =>
      try Defect.named(name)
      catch {
        case e: IllegalArgumentException =>
          println(e.getMessage)
          sys.exit(2)
      }
    }
    val failed = options.get("--seed") match {
      case Some(seed) => replay(seed.toLong, defect, options.get("--crash-at").map(_.toLong))
      case None =>
        val search = new Search(
          options.get("--from").fold(1L)(_.toLong),
          options.get("--histories").fold(Long.MaxValue)(_.toLong),
          options.get("--minutes").fold(Double.MaxValue)(_.toDouble),
          defect,
          println(_))
        search.run(options.get("--threads").fold(1)(_.toInt)).failures > 0
    }
    if (failed) sys.exit(1)
  }

  private def replay(seed: Long, defect: Option[Defect], crashAt: Option[Long]): Boolean = {
    val outcome = History.of(seed, defect, crashAt, Some(println(_)))
    println(withNames(outcome.plan))
    println(describe(outcome, defect))
    outcome.failure.isDefined
  }

  // The choices of a plan by name; those that consist of others have theirs in brackets.
  private def withNames(choices: Product): String =
    choices.productElementNames
      .zip(choices.productIterator)
      .map { case (name, choice) => s"$name=${shown(choice)}" }
      .mkString(s"${choices.productPrefix}(", ", ", ")")

  private def shown(choice: Any): String = choice match {
    case Some(chosen) => shown(chosen)
    case several: Iterable[_] => several.map(shown).mkString("[", ", ", "]")
    case (first, second) => s"$first ${shown(second)}"
    case choices: Product if choices.productArity > 0 => withNames(choices)
    case other => String.valueOf(other)
  }

  private val LinesShown = 40

  /** What came of a history, and how to see it again. */
  private[sim] def describe(outcome: Outcome, defect: Option[Defect]): String =
    outcome.failure match {
      case None => s"seed ${outcome.seed}: nothing is wrong (hash ${outcome.hash.toHexString})"
      case Some(failure) =>
        val shown = failure.linesIterator.take(LinesShown).mkString("\n")
        val planted = defect.fold("")(" --defect " + _.name)
        s"seed ${outcome.seed}: $shown\n  hash ${outcome.hash.toHexString}, " +
          s"replay: ./dev sim --seed ${outcome.seed}$planted"
    }
}
