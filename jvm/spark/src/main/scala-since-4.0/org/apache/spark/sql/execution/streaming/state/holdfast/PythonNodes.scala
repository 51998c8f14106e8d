package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.python.streaming

/** The nodes of plans that Python's operators have, where Spark has them from 4.0 on. */
private[holdfast] trait PythonNodes {
  type FlatMapGroupsInPandasWithStateExec = streaming.FlatMapGroupsInPandasWithStateExec
}
