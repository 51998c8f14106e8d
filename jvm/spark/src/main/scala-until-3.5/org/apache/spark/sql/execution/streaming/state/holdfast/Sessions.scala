package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.SparkSession

/** Sessions that run in this JVM, as all of the JVM's do before Spark 4.0. */
private[holdfast] object Sessions {
  type LocalSession = SparkSession
}
