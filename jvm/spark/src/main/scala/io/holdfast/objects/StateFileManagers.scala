package io.holdfast.objects

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CheckpointFileManager
import org.apache.spark.sql.internal.SQLConf

/** Chooses what writes the state files of a query. */
private[holdfast] object StateFileManagers {

  /** The manager of the files in a folder: Holdfast's in object stores, unless the query names one of
    * its own, and elsewhere that of the query.
    */
  def create(folder: Path, hadoopConf: Configuration): CheckpointFileManager =
    if (isLeftToUs(hadoopConf) && ObjectCheckpointFiles.isPlaceFor(folder, hadoopConf)) {
      new ObjectCheckpointFiles(folder, hadoopConf)
    } else CheckpointFileManager.create(folder, hadoopConf)

  // Spark's managers do there what ours does, with more requests.
  private def isLeftToUs(hadoopConf: Configuration): Boolean = {
    val named = hadoopConf.get(SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key)
    named == null || named.isEmpty || named == TellingFileManager.Silent || named == Ours
  }

  private val Ours = "io.holdfast.HoldfastCheckpointFileManager"
}
