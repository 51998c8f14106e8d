package io.holdfast.python

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}

/** Stores that begin without the state of the version before, which Spark has from 4.2 on. */
private[holdfast] object WholeStates {

  def after(provider: StateStoreProvider, version: Long): StateStore =
    throw new UnsupportedOperationException(
      s"A state store cannot be written whole by Spark $SPARK_VERSION: Spark's providers have " +
        "that from 4.2 on. Use pyspark 4.2 or newer to write this checkpoint")
}
