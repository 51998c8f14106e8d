package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.python

/** The nodes of plans that Python's operators have, where Spark 3.5 has them. */
private[holdfast] trait PythonNodes {
  type FlatMapGroupsInPandasWithStateExec = python.FlatMapGroupsInPandasWithStateExec
}
