package io.holdfast.session

import java.util.Arrays

import org.apache.spark.SPARK_VERSION
import org.scalatest.funsuite.AnyFunSuite

/** What is wrong with a jar that was taken for another Spark than its own, and which one to take. */
class JarCheckSuite extends AnyFunSuite {
  private val build = new BuildInfo("1.2.3", "4.2", "4.2.0", "2.13")

  private def mismatch(
      build: BuildInfo,
      sparkVersion: String,
      scalaVersion: String = "2.13.16",
      jars: Seq[FoundJar] = Nil): Option[String] =
    Option(
      JarCheck.mismatch(build, sparkVersion, scalaVersion, Arrays.asList(jars: _*)).orElse(null))

  test("a jar of this line is right, and so is this one") {
    assert(mismatch(build, "4.2.7") === None)
    val scalaVersion = scala.util.Properties.versionNumberString
    assert(mismatch(BuildInfo.current, SPARK_VERSION, scalaVersion) === None)
  }

  test("a jar of another Spark line, in a sentence with the one to take") {
    val sentence = mismatch(build, "4.3.0").get
    assert(sentence.contains("Spark 4.2 and this is Spark 4.3.0, whose"))
    assert(sentence.contains("Use io.holdfast:holdfast-spark_4.3_2.13:1.2.3"))
  }

  test("a jar for another Scala, in a sentence with the one to take") {
    val scala212 = new BuildInfo("1.2.3", "3.5", "3.5.0", "2.12")
    val sentence = mismatch(scala212, "3.5.1").get
    assert(sentence.contains("built for Scala 2.12 and this Spark has Scala 2.13. Use"))
    assert(sentence.contains("Use io.holdfast:holdfast-spark_3.5_2.13:1.2.3"))
    assert(mismatch(scala212, "4.3.0").get.contains("Use io.holdfast:holdfast-spark_4.3_2.13:"))
  }

  test("a release of the line that has not yet the interface, in a sentence with the one to take") {
    val build = new BuildInfo("1.2.3", "4.0", "4.0.1", "2.13")
    Seq("4.0.1", "4.0.12", "4.0.1-amzn-0").foreach { version =>
      assert(mismatch(build, version) === None)
    }
    Seq("4.0.0", "4.0.0-preview2").foreach { version =>
      assert(mismatch(build, version).get.endsWith("Use Spark 4.0.1 or newer"))
    }
  }

  test("a jar of another Spark line before the one that fits, with the one to remove") {
    val old = new FoundJar("/a/old.jar", build)
    def other(scalaLine: String) =
      new FoundJar("/b/new.jar", new BuildInfo("1.2.4", "4.3", "4.3.0", scalaLine))
    val sentence = mismatch(build, "4.3.0", jars = Seq(old, other("2.13"))).get
    assert(sentence.contains("is on the class path too (/b/new.jar)"))
    assert(sentence.endsWith("remove /a/old.jar"))
    Seq(Seq(old), Seq(old, other("2.12"))).foreach { jars =>
      assert(mismatch(build, "4.3.0", jars = jars).get.contains("holdfast-spark_4.3_2.13:1.2.3"))
    }
  }
}
