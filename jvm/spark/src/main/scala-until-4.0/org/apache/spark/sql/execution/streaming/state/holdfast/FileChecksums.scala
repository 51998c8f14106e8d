package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.state.StateStoreConf

/** The files beside those of a checkpoint that have their checksums, which Spark has from 4.1 on. An older
  * one writes none, and a checkpoint that has been with Spark 4.1 has some. Any thread may call.
  */
object FileChecksums {

  def areOn(conf: StateStoreConf): Boolean = false

  def over(manager: CheckpointFileManager, conf: StateStoreConf): CheckpointFileManager = manager

  /** Whether it is one, by its name (`ChecksumCheckpointFileManager.isChecksumFile` of Spark 4.1). */
  def isOne(path: Path): Boolean = path.getName.endsWith(".crc")

  /** Does nothing: Spark 4.1 deletes those that are left without their file, if the query comes back to it.
    */
  def deleteOrphans(
      manager: CheckpointFileManager,
      checksums: Seq[Path],
      minVersionToRetain: Long,
      conf: StateStoreConf): Unit = ()
}
