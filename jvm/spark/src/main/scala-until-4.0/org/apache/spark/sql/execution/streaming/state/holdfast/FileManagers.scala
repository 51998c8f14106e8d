package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.CheckpointFileManager

/** File managers, which Spark before 4.1 never gives back. */
object FileManagers {

  trait Closing extends CheckpointFileManager {
    protected def inner: CheckpointFileManager
  }

  def close(manager: CheckpointFileManager): Unit = ()
}
