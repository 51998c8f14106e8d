package io.holdfast.fuzz

import java.nio.file.Paths

/** The command `./dev fuzz --only jvm`: draws inputs for one target after the other.
  * `--seconds N` is for each, and `--seed N` what Jazzer draws by.
  */
object Search {

  def main(arguments: Array[String]): Unit = {
    val options = arguments.grouped(2).collect { case Array(name, value) => name -> value }.toMap
    val limits = Seq(
      "seed" -> options.getOrElse("--seed", "1"),
      "max_total_time" -> options.getOrElse("--seconds", "60"))
    if (Target.all.exists { case (name, target) => findsWrong(name, target, limits) }) sys.exit(1)
  }

  private def findsWrong(name: String, target: Target, limits: Seq[(String, String)]): Boolean = {
    println(s"fuzz $name")
    val fuzzer = new Fuzzer(Paths.get("target", "fuzz", name).toAbsolutePath)
    val found =
      fuzzer.find(
        target.className,
        target.seeds ++ Golden.corrupt(name),
        limits,
        most = 1,
        println(_))
    found.foreach { input =>
      println(
        s"$name: wrong with $input; copy it to tests/corrupt/jvm/$name for FuzzSuite to try it")
    }
    found.nonEmpty
  }
}
