package io.holdfast

import scala.io.Source
import scala.util.Using

import org.scalatest.Assertions._

/** The cases of Spark's suite that expect the files of Spark's own two providers, whose classes they ask
  * for, from a file with one on a line; no file, no such cases. What they are about is tested on Holdfast
  * by suites of its own.
  *
  * The list cannot rot: a listed case that passes fails the suite, and so does one that is no longer in
  * it.
  */
object OfOtherProviders {
  private val source = "contract-of-other-providers.txt"

  lazy val cases: Set[String] =
    Option(getClass.getResourceAsStream(source)).fold(Set.empty[String]) { stream =>
      Using.resource(Source.fromInputStream(stream, "UTF-8")) {
        _.getLines().map(_.trim).filterNot(line => line.isEmpty || line.startsWith("#")).toSet
      }
    }

  def contains(testName: String): Boolean = cases.contains(testName)

  /** Runs a listed test, which is then pending, or failed if it passes. */
  def expectFailure(testName: String)(body: => Any): Any = {
    val passes =
      try {
        body
        true
      } catch { case _: Exception => false }
    if (passes) fail(s"It passes now: take '$testName' out of $source") else pending
  }
}
