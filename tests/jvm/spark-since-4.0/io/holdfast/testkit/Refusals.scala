package io.holdfast.testkit

import org.apache.spark.{SPARK_VERSION, SparkThrowable}

/** What tells Spark's errors about state stores apart: a condition, from 4.0 on. */
object Refusals {

  val CannotLoad = "CANNOT_LOAD_STATE_STORE"
  val KeyFormat: String = ofFormat("KEY_ROW_FORMAT_VALIDATION_FAILURE")
  val ValueFormat: String = ofFormat("VALUE_ROW_FORMAT_VALIDATION_FAILURE")

  private val Uncategorized = s"$CannotLoad.UNCATEGORIZED"

  /** What an error is, if it is one of Spark's; Spark 4.0 tells of some within one of no kind. */
  def unapply(error: Throwable): Option[String] = error match {
    case spark: SparkThrowable if spark.getCondition == Uncategorized =>
      Option(error.getCause).flatMap(unapply).orElse(Some(Uncategorized))
    case spark: SparkThrowable => Option(spark.getCondition)
    case _ => None
  }

  // One of the many of loading since 4.1.
  private def ofFormat(name: String): String =
    if (SPARK_VERSION.startsWith("4.0.")) s"STATE_STORE_$name" else s"$CannotLoad.$name"

  def is(error: SparkThrowable, condition: String): Boolean =
    error.getCondition.startsWith(condition)
}
