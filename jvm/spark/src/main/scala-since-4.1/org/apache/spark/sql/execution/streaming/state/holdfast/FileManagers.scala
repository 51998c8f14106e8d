package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

/** File managers that are given back, which Spark has from 4.1 on. */
object FileManagers {

  /** One that gives back another with itself. */
  trait Closing extends CheckpointFileManager {
    protected def inner: CheckpointFileManager
    override def close(): Unit = inner.close()
  }

  def close(manager: CheckpointFileManager): Unit = manager.close()
}
