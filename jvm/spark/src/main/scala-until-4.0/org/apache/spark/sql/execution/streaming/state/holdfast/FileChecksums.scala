package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.state.StateStoreConf

/** The files beside those of a checkpoint that have their checksums, which Spark before 4.1 has not:
  * where a checkpoint has some they are left alone. Any thread may call.
  */
object FileChecksums {

  def areOn(conf: StateStoreConf): Boolean = false

  def over(manager: CheckpointFileManager, conf: StateStoreConf): CheckpointFileManager = manager

  def isOne(path: Path): Boolean = false

  def deleteOrphans(
      manager: CheckpointFileManager,
      checksums: Seq[Path],
      minVersionToRetain: Long,
      conf: StateStoreConf): Unit = ()
}
