package io.holdfast.races

import java.io.File
import java.nio.file.{Files, Path}
import java.util.Collections

import scala.jdk.CollectionConverters._

import org.openjdk.jcstress.Options
import org.openjdk.jcstress.infra.collectors.TestResult
import org.openjdk.jcstress.infra.runners.{ForkedTestConfig, Runner, TestConfig, TestList}
import org.openjdk.jcstress.os.{AffinityMode, NodeType, SchedulingClass}
import org.openjdk.jcstress.vm.CompileMode
import org.scalatest.funsuite.AnyFunSuite

/** What the memory model allows: the tests of jcstress in `jvm/races`, each of which says which outcomes
  * are right. For a moment they run in this JVM; for minutes as jcstress does it, with each of the
  * compilers and settings that matter.
  */
class StressSuite extends AnyFunSuite {
  import StressSuite._

  if (Budget.minutes.isEmpty) names.foreach { name =>
    test(name.split('.').last) {
      val result = outcomes(name)
      assert(result.grading.isPassed, result.grading.failureMessages.asScala.mkString("; "))
      assert(result.getTotalCount > 0)
    }
  }
  else {
    test("all outcomes are acceptable, whatever compiles the code") {
      val folder = Files.createTempDirectory("holdfast-stress")
      val rounds = Budget.rounds(ShareOfStress) { _ =>
        val status = runAll(folder)
        assert(status == 0, s"jcstress ended with $status; its report is in $folder")
        ()
      }
      info(s"$rounds rounds")
    }
  }
}

private object StressSuite {

  // The rest is for Lincheck.
  private val ShareOfStress = 0.3

  private def names: Seq[String] = TestList.tests.asScala.toSeq.sorted

  private val options = {
    val options =
      new Options(
        Array(
          "-iters",
          "1",
          "-time",
          "150",
          "-strideSize",
          "64",
          "-strideCount",
          "8",
          "-hs",
          "256"))
    options.parse()
    options
  }

  private def outcomes(name: String): TestResult = {
    val config = new TestConfig(
      options,
      TestList.getInfo(name),
      0,
      Collections.emptyList[String],
      CompileMode.UNIFIED,
      new SchedulingClass(AffinityMode.NONE, 2, NodeType.PACKAGE))
    val runner = Class
      .forName(config.generatedRunnerName)
      .getConstructor(classOf[ForkedTestConfig])
      .newInstance(new ForkedTestConfig(config))
      .asInstanceOf[Runner[_]]
    val result = runner.run()
    result.setConfig(config)
    result
  }

  /** Runs all of them in JVMs of their own; what jcstress ends with. */
  private def runAll(folder: Path): Int = {
    val java = Path.of(System.getProperty("java.home"), "bin", "java").toString
    // The classes that the tests are in and what they need; jcstress looks through folders for its own.
    val classes = System.getProperty("java.class.path").split(File.pathSeparator)
    val needed = classes.filterNot(_.contains("test-classes")).mkString(File.pathSeparator)
    new ProcessBuilder(
      java,
      "-cp",
      needed,
      "org.openjdk.jcstress.Main",
      // Many settings, each for a moment; the rounds make the time long.
      "-sc",
      "false",
      "-iters",
      "2",
      "-time",
      "500",
      "-r",
      folder.resolve("report").toString)
      .directory(folder.toFile)
      .inheritIO()
      .start()
      .waitFor()
  }
}
