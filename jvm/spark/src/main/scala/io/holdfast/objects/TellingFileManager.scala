package io.holdfast.objects

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.{
  CancellableFSDataOutputStream,
  CheckpointFileManager
}

import io.holdfast.disk.ManagerOverAnother

/** A file manager whose `close` fails where the file could not be finished.
  *
  * Spark's manager for object stores logs a failed upload as a warning and returns from `close` as if
  * the file were there (`AbortableStreamBasedCheckpointFileManager` of spark-hadoop-cloud 4.1), so a
  * version would be committed that nobody can load. Here the upload is closed first, and what fails
  * then is thrown; to close it once more does nothing.
  *
  * Any thread may call.
  */
final private class TellingFileManager(override protected val inner: CheckpointFileManager)
    extends ManagerOverAnother {

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream = {
    val file = inner.createAtomic(path, overwriteIfPossible)
    // Else the manager has to look whether there is one, before it closes the upload.
    if (overwriteIfPossible) new TellingOutput(file) else file
  }

  final private class TellingOutput(file: CancellableFSDataOutputStream)
      extends CancellableFSDataOutputStream(file) {
    override def close(): Unit = {
      file.getWrappedStream.close()
      file.close()
    }

    override def cancel(): Unit = file.cancel()
  }
}

private[holdfast] object TellingFileManager {

  /** The class of Spark's manager for object stores. */
  val Silent: String =
    "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"

  /** A manager itself, or what tells of the failures that it does not tell of. */
  def over(manager: CheckpointFileManager): CheckpointFileManager =
    if (isSilent(manager)) new TellingFileManager(manager) else manager

  /** Whether a manager does not tell of uploads that fail. */
  def isSilent(manager: CheckpointFileManager): Boolean = isSilent(manager.getClass)

  private def isSilent(manager: Class[_]): Boolean =
    manager != null && (manager.getName == Silent || isSilent(manager.getSuperclass))
}
