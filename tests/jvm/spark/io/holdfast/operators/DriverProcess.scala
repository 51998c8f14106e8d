package io.holdfast.operators

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path, Paths}

import scala.io.Source
import scala.jdk.CollectionConverters._

/** JVMs with this one's classes and options, to be killed. */
object DriverProcess {

  // They live for a minute: the JVM's second compiler would only slow them.
  private val BriefCompilation = "-XX:TieredStopAtLevel=1"

  /** Runs an object's `main` in a JVM of its own until it prints a line, and kills it there, with a
    * signal that it cannot catch.
    */
  def killAt(line: String, main: String, log: Path, arguments: String*): Unit = {
    val temporary = Files.createTempDirectory(log.getParent, "tmp")
    val command = Seq(Paths.get(sys.props("java.home"), "bin", "java").toString) ++
      ManagementFactory.getRuntimeMXBean.getInputArguments.asScala ++
      Seq(
        s"-Djava.io.tmpdir=$temporary",
        BriefCompilation,
        "-cp",
        sys.props("java.class.path"),
        main) ++
      arguments
    val driver = new ProcessBuilder(command.asJava).redirectError(log.toFile).start()
    try {
      val lines = Source.fromInputStream(driver.getInputStream).getLines()
      assert(lines.contains(line), s"$main failed: ${Files.readString(log).takeRight(3000)}")
    } finally {
      driver.destroyForcibly()
      driver.waitFor()
      ()
    }
  }
}
