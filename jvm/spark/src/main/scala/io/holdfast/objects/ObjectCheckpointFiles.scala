package io.holdfast.objects

import java.io.IOException

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{
  CommonPathCapabilities,
  FSDataInputStream,
  FSDataOutputStream,
  FSDataOutputStreamBuilder,
  FileAlreadyExistsException,
  FileStatus,
  Path,
  PathFilter
}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.{
  CancellableFSDataOutputStream,
  CheckpointFileManager
}

/** Checkpoint files in an object store, each written with one request and never renamed: a file is an
  * upload, which appears as a whole when it is closed and not at all when it is aborted.
  *
  * What Hadoop asks of the store before that, it does not ask for here (`fs.s3a.create.performance`,
  * Hadoop 3.4): whether there is a folder of the name of a file, and whether the folder is there, which
  * a store of objects does not have. A file that must not replace another is a conditional upload
  * where there is such a thing (Hadoop 3.4.2), which the store refuses if there is one; elsewhere, and
  * with `fs.s3a.create.conditional.enabled` set to false, it is looked for when the file is begun and
  * before it is closed, as by Spark's managers.
  *
  * What fails at the end of an upload is thrown by `close`. Spark's manager for object stores logs it
  * and returns (`AbortableStreamBasedCheckpointFileManager` of spark-hadoop-cloud 4.1).
  *
  * Any thread may call.
  */
final private[holdfast] class ObjectCheckpointFiles(root: Path, hadoopConf: Configuration)
    extends CheckpointFileManager
    with Logging {
  import ObjectCheckpointFiles._

  private val fileSystem = root.getFileSystem(hadoopConf)
  private val isConditional = fileSystem.hasPathCapability(root, ConditionalUpload)

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream = {
    if (!overwriteIfPossible && !isConditional) refuseExisting(path)
    val builder: FSDataOutputStreamBuilder[_ <: FSDataOutputStream, _] = fileSystem.createFile(path)
    builder.recursive()
    builder.overwrite(true)
    builder.opt(WithoutProbes, true)
    if (!overwriteIfPossible && isConditional) builder.opt(ConditionalUpload, true)
    new Upload(path, builder.build(), replaces = overwriteIfPossible)
  }

  override def open(path: Path): FSDataInputStream = fileSystem.open(path)

  /** Opens a file as a listing has shown it, without asking for its length.
    *
    * @throws java.io.IOException
    *   also when it is read, if another has taken its place since
    */
  def open(listed: FileStatus): FSDataInputStream = {
    val builder = fileSystem.openFile(listed.getPath)
    builder.withFileStatus(listed)
    builder.build().get()
  }

  override def list(path: Path, filter: PathFilter): Array[FileStatus] =
    fileSystem.listStatus(path, filter)

  override def mkdirs(path: Path): Unit = {
    val _ = fileSystem.mkdirs(path)
  }

  override def exists(path: Path): Boolean = fileSystem.exists(path)

  override def delete(path: Path): Unit = {
    val _ = fileSystem.delete(path, true)
  }

  /** Deletes files of one folder, some hundred with each request where that can be.
    *
    * @throws java.io.IOException
    *   if some of them could not be deleted
    */
  def deleteAll(folder: Path, files: Seq[Path]): Unit =
    if (!ManyDeleted.in(fileSystem, folder, files)) files.foreach(delete)

  override def isLocal: Boolean = false

  override def createCheckpointDirectory(): Path = {
    val qualified = fileSystem.makeQualified(root)
    mkdirs(qualified)
    qualified
  }

  private def refuseExisting(path: Path, cause: Throwable = null): Unit = if (exists(path)) {
    val sentence = new FileAlreadyExistsException(
      s"$path is there already and is not to be replaced. If another run of the query writes to the " +
        "same checkpoint, stop one of them. If none does, an answer of the object store was lost, and " +
        "the query goes on when it is started again")
    sentence.initCause(cause)
    throw sentence
  }

  final private class Upload(path: Path, file: FSDataOutputStream, replaces: Boolean)
      extends CancellableFSDataOutputStream(file) {
    private var ended = false

    override def close(): Unit = synchronized {
      if (!ended) {
        try {
          if (!replaces && !isConditional) refuseExisting(path)
          ended = true
          file.close()
        } catch {
          case e: IOException if ended && !replaces =>
            refuseExisting(path, e)
            throw e
        } finally cancel()
      }
    }

    override def cancel(): Unit = synchronized {
      if (!ended) {
        ended = true
        try { val _ = file.abort() }
        catch { case NonFatal(e) => logWarning(s"An upload of $path could not be aborted", e) }
        finally {
          try file.close()
          catch { case NonFatal(e) => logDebug(s"Closing $path failed, and it is not wanted", e) }
        }
      }
    }
  }
}

private[holdfast] object ObjectCheckpointFiles {
  // By their names: not every Hadoop that a line runs on has the constants.
  private val ConditionalUpload = "fs.option.create.conditional.overwrite"
  private val WithoutProbes = "fs.s3a.create.performance"

  /** Whether a file system has uploads that can be aborted, which is how object stores show here. */
  def isPlaceFor(path: Path, hadoopConf: Configuration): Boolean =
    path.getFileSystem(hadoopConf).hasPathCapability(path, CommonPathCapabilities.ABORTABLE_STREAM)
}
