package org.apache.spark.sql.execution.streaming.state.holdfast

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.checkpointing.{
  CheckpointFileManager,
  ChecksumCheckpointFileManager,
  ChecksumFile
}
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreProvider}

/** The files beside those of a checkpoint that have their checksums, which Spark has from 4.1 on. Any
  * thread may call.
  */
object FileChecksums {

  /** Whether a query asks for them. */
  def areOn(conf: StateStoreConf): Boolean = conf.checkpointFileChecksumEnabled

  /** The manager that writes and verifies them too, if a query asks for it. */
  def over(manager: CheckpointFileManager, conf: StateStoreConf): CheckpointFileManager =
    if (!areOn(conf)) manager
    else {
      new ChecksumCheckpointFileManager(
        manager,
        allowConcurrentDelete = true,
        numThreads = FileChecksumThreads.of(conf),
        skipCreationIfFileMissingChecksum =
          conf.checkpointFileChecksumSkipCreationIfFileMissingChecksum)
    }

  def isOne(path: Path): Boolean = ChecksumCheckpointFileManager.isChecksumFile(path)

  /** Deletes those whose state file is gone (`StateStoreProvider.deleteOrphanChecksumFiles`).
    *
    * @param checksums
    *   all that there are
    */
  def deleteOrphans(
      manager: CheckpointFileManager,
      checksums: Seq[Path],
      minVersionToRetain: Long,
      conf: StateStoreConf): Unit =
    StateStoreProvider.deleteOrphanChecksumFiles(
      manager,
      checksums.map(ChecksumFile(_)),
      Seq.empty,
      minVersionToRetain,
      areOn(conf))
}
