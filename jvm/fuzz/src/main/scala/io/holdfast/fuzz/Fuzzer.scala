package io.holdfast.fuzz

import java.lang.management.ManagementFactory
import java.nio.file.{Files => JavaFiles, Path, Paths}
import java.util.UUID

import scala.io.Source
import scala.jdk.CollectionConverters._

/** Runs Jazzer, which draws inputs for a [[Target]] from those that led it to code that it had not seen:
  * in a process of its own, for it changes the classes there, and ends the process when it is done.
  *
  * @param folder
  *   where it keeps the inputs that it goes on with, and those that go wrong
  */
final class Fuzzer(folder: Path) {

  /** Looks for inputs that go wrong.
    *
    * @param className
    *   class of the target
    * @param options
    *   of libFuzzer, such as `runs` and `seed`
    * @param most
    *   ends after so many that go wrong in ways of their own
    * @param tell
    *   is told what Jazzer says
    * @return
    *   the inputs
    * @throws java.lang.IllegalStateException
    *   if Jazzer ended in another way
    */
  def find(
      className: String,
      seeds: Seq[Array[Byte]],
      options: Seq[(String, String)],
      most: Int,
      tell: String => Unit): Seq[Path] = {
    val corpus = JavaFiles.createDirectories(folder.resolve("corpus"))
    for (seed <- seeds) {
      JavaFiles.write(corpus.resolve(UUID.nameUUIDFromBytes(seed).toString), seed)
    }
    // A name that is new, so that an input which went wrong in another run is none of this one.
    val found = JavaFiles.createTempDirectory(folder, "wrong-")
    val exit = run(className, options :+ ("artifact_prefix" -> s"$found/"), most, corpus, tell)
    val inputs = listed(found)
    if (inputs.isEmpty) JavaFiles.delete(found)
    if (exit != 0 && inputs.isEmpty) {
      throw new IllegalStateException(s"Jazzer ended with exit code $exit")
    }
    inputs
  }

  private def run(
      className: String,
      options: Seq[(String, String)],
      most: Int,
      corpus: Path,
      tell: String => Unit): Int = {
    val java = Paths.get(sys.props("java.home"), "bin", "java").toString
    val command = Seq(java) ++ Fuzzer.javaOptions ++ Seq(
      "-cp",
      sys.props("java.class.path"),
      "com.code_intelligence.jazzer.Jazzer",
      s"--target_class=$className",
      s"--instrumentation_includes=${Fuzzer.Watched}",
      s"--custom_hook_includes=${Fuzzer.Watched}",
      s"--reproducer_path=$folder",
      s"--keep_going=$most",
      s"-max_len=${Fuzzer.MostBytes}") ++
      options.map { case (name, value) => s"-$name=$value" } :+ corpus.toString
    val process = new ProcessBuilder(command: _*)
      .directory(folder.toFile)
      .redirectErrorStream(true)
      .start()
    try {
      Source.fromInputStream(process.getInputStream).getLines().foreach(tell)
      process.waitFor()
    } finally process.destroy()
  }

  private def listed(folder: Path): Seq[Path] = {
    val found = JavaFiles.list(folder)
    try found.iterator().asScala.toSeq.sorted
    finally found.close()
  }
}

private object Fuzzer {

  // What reads files: the product, and the codecs that are written in Java.
  private val Watched =
    "io.holdfast.**:net.jpountz.**:com.ning.compress.**:org.xerial.snappy.**:com.github.luben.zstd.**"

  // Longer ones lead nowhere else.
  private val MostBytes = 8192

  // Most of a short run are classes that Jazzer has changed, and each is called a few times.
  private val OwnOptions = Seq("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

  /** Besides, those of this JVM that are about Spark and this project. */
  private def javaOptions: Seq[String] =
    OwnOptions ++ ManagementFactory.getRuntimeMXBean.getInputArguments.asScala.filter { option =>
      option == "-ea" || Seq("--add-opens", "-Dholdfast.").exists(option.startsWith)
    }
}
