package io.holdfast.checkpoint

import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.state.holdfast.{FileChecksums, FileManagers}

import io.holdfast.conf.StoreContext
import io.holdfast.objects.{ObjectCheckpointFiles, TellingFileManager}

/** The managers of the files in a store's folder, one over the other.
  *
  * Made when they are needed first. Any thread may call.
  *
  * @param newManager
  *   makes the lowest
  */
final private[checkpoint] class FolderManagers(
    context: StoreContext,
    newManager: () => CheckpointFileManager) {

  private lazy val below: CheckpointFileManager = {
    val made = newManager()
    // One that does not tell of what fails is only made to tell where it may replace a file.
    if (!FileChecksums.areOn(context.conf) || TellingFileManager.isSilent(made))
      TellingFileManager.over(made)
    else new LeavingFileManager(made)
  }

  /** The one that finds files in the place of those that are to replace none, if there is one. */
  lazy val leaving: Option[LeavingFileManager] =
    Option(below).collect { case leaving: LeavingFileManager => leaving }

  /** The uppermost, which does all. */
  lazy val manager: CheckpointFileManager = FileChecksums.over(below, context.conf)

  /** The same, if there is something that it can do with fewer requests than others. */
  lazy val objects: Option[ObjectCheckpointFiles] =
    Option(manager).collect { case objects: ObjectCheckpointFiles => objects }

  def close(): Unit = FileManagers.close(manager)
}
