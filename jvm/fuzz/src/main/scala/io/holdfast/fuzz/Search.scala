package io.holdfast.fuzz

import java.nio.file.{Files => JavaFiles, Path, Paths}

/** The command `./dev fuzz --only jvm`: draws inputs for one target after the other.
  * `--seconds N` is for each, and `--seed N` what Jazzer draws by; `--target NAME` chooses one.
  */
object Search {

  def main(arguments: Array[String]): Unit = {
    val options = arguments.grouped(2).collect { case Array(name, value) => name -> value }.toMap
    val targets = options.get("--target") match {
      case None => Target.all
      case Some(name) => Target.all.filter(_._1 == name)
    }
    if (targets.isEmpty) {
      sys.error(
        s"--target is one of ${Target.all.map(_._1).mkString(", ")}, not ${options("--target")}")
    }
    val limits = Seq(
      "seed" -> options.getOrElse("--seed", "1"),
      "max_total_time" -> options.getOrElse("--seconds", "60"))
    val folder = Paths.get(options.getOrElse("--folder", "target/fuzz")).toAbsolutePath
    if (targets.exists { case (name, target) => findsWrong(name, target, limits, folder) })
      sys.exit(1)
  }

  private def findsWrong(
      name: String,
      target: Target,
      limits: Seq[(String, String)],
      folder: Path): Boolean = {
    println(s"fuzz $name")
    val fuzzer = new Fuzzer(JavaFiles.createDirectories(folder.resolve(name)))
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
