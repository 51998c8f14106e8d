package io.holdfast

import scala.io.Source
import scala.util.Using

import org.apache.spark.SparkThrowable
import org.scalatest.Assertions._

/** The cases of Spark's suite that Holdfast does not support yet, from a file with one on a line.
  *
  * The list cannot rot: a listed case that passes fails the suite, so does one that fails in another
  * way than by being refused, and so does one that is no longer in the suite.
  */
object NotYetSupported {

  val source = "contract-not-yet-supported.txt"

  // Errors by which Spark's own providers refuse what they cannot do.
  private val refusals =
    Set(
      "UNSUPPORTED_FEATURE.STATE_STORE_MULTIPLE_COLUMN_FAMILIES",
      "STATE_STORE_UNSUPPORTED_OPERATION")

  lazy val cases: Set[String] =
    Using.resource(Source.fromInputStream(getClass.getResourceAsStream(source), "UTF-8")) {
      _.getLines().map(_.trim).filterNot(line => line.isEmpty || line.startsWith("#")).toSet
    }

  /** The case that a test belongs to: the suite runs most cases once for each codec. */
  def caseOf(testName: String): String = testName.replaceFirst(" - with codec \\S+", "")

  def contains(testName: String): Boolean = cases.contains(caseOf(testName))

  /** Runs a listed test, which is then pending, or failed if it is not refused. */
  def expectRefusal(testName: String)(body: => Any): Any = {
    try body
    catch {
      case e: Throwable if refused(e) => pending
    }
    fail(s"It passes now: take '${caseOf(testName)}' out of $source")
  }

  private def refused(e: Throwable): Boolean = e match {
    case e: SparkThrowable => refusals.contains(e.getCondition)
    case _ => false
  }
}
