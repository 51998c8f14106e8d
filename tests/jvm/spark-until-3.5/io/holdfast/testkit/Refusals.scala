package io.holdfast.testkit

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.streaming.state.InvalidUnsafeRowException

/** What tells Spark 3.5's errors about state stores apart: some have a class, and none a condition. */
object Refusals {

  val CannotLoad = "CANNOT_LOAD_STATE_STORE"
  val KeyFormat: String = classOf[InvalidUnsafeRowException].getName
  val ValueFormat: String = KeyFormat

  /** What an error is, if it is one of Spark's, or tells of one. */
  def unapply(error: Throwable): Option[String] = error match {
    case unsafe: InvalidUnsafeRowException => Some(unsafe.getClass.getName)
    case _ => Option(error.getCause).flatMap(unapply)
  }

  /** Whether an error is of a condition, which it does not say. */
  def is(error: SparkThrowable, condition: String): Boolean =
    error.getErrorClass == null && condition.nonEmpty
}
