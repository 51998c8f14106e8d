package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.classic

/** Sessions that run in this JVM, which have a class of their own from Spark 4.0 on. */
private[holdfast] object Sessions {
  type LocalSession = classic.SparkSession
}
