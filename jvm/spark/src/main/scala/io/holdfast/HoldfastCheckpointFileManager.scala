package io.holdfast

import java.net.URI
import java.util.WeakHashMap

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path}
import org.apache.spark.sql.execution.streaming.state.holdfast.Relocated.CheckpointFileManager
import org.apache.spark.sql.internal.SQLConf

import io.holdfast.disk.{LocalCheckpointFiles, ManagerOverAnother}
import io.holdfast.objects.ObjectCheckpointFiles

/** A file manager for checkpoints on local or mounted disks that starts no processes, and for those in
  * object stores that asks for little: set `spark.sql.streaming.checkpointFileManagerClass` to this
  * class.
  *
  * Spark's default manager (`FileContextBasedCheckpointFileManager`, Spark 4.2) reads links and sets
  * permissions with about ten processes for every file that it writes to a local path, unless
  * Hadoop's native library is there. This one writes state files, the offset log and the commit log
  * of a `file:` checkpoint from within the JVM. In an object store whose uploads can be aborted
  * (`s3a`) each of them is one upload, which appears when it is closed, and is never renamed; one that
  * must not replace another is refused by the store itself with Hadoop 3.4.2 and newer. A checkpoint on
  * any other file system is left to Spark's default, and so is a local one where Hadoop has been set
  * another file system for local paths than its own with checksums (`fs.file.impl`).
  *
  * On a local disk a file is there after a loss of power once its `close` has returned: bytes and
  * checksums were forced to the disk before they got their names (`fsync`), and the folder after it;
  * a folder that it made was forced into the one above. So a batch in the commit log has its state. A
  * file whose `close` had not returned is there as a whole or not at all, and what it was to replace
  * is still there in that case. Deletions are not forced: what was deleted may come back. This holds as
  * far as the disk and the file system keep what they acknowledge; where folders cannot be forced, as
  * on Windows, names are there when the file system pleases, and the log says so. Spark's default
  * manager forces nothing (Hadoop 3.5, `RawLocalFileSystem`).
  *
  * Made by Spark, on the driver and in executors. Any thread may call.
  *
  * @param path
  *   the checkpoint location, or a folder in it
  */
final class HoldfastCheckpointFileManager(path: Path, hadoopConf: Configuration)
    extends ManagerOverAnother {
  import HoldfastCheckpointFileManager._

  override protected val inner: CheckpointFileManager =
    if (isOnLocalDisk(path, hadoopConf)) new LocalCheckpointFiles(path, hadoopConf)
    else if (ObjectCheckpointFiles.isPlaceFor(path, hadoopConf))
      new ObjectCheckpointFiles(path, hadoopConf)
    else sparksDefault(path, hadoopConf)
}

private[holdfast] object HoldfastCheckpointFileManager {

  private def isOnLocalDisk(path: Path, hadoopConf: Configuration): Boolean =
    Option(path.toUri.getScheme)
      .getOrElse(FileSystem.getDefaultUri(hadoopConf).getScheme) == "file" &&
      hasHadoopsChecksums(hadoopConf)

  // Who has set another file system for local paths (`fs.file.impl`) wants no checksums beside files.
  private def hasHadoopsChecksums(hadoopConf: Configuration): Boolean =
    FileSystem.get(LocalFiles, hadoopConf).isInstanceOf[LocalFileSystem]

  private val LocalFiles = URI.create("file:///")

  private def sparksDefault(path: Path, hadoopConf: Configuration): CheckpointFileManager =
    CheckpointFileManager.create(path, withoutManager(hadoopConf))

  // Every store has a manager, and a copy of its configuration takes 41 KB and more.
  private val copies = new WeakHashMap[Configuration, Configuration]

  /** A configuration without the setting that names this manager: one for each that is given. */
  private[holdfast] def withoutManager(hadoopConf: Configuration): Configuration =
    copies.synchronized {
      copies.computeIfAbsent(
        hadoopConf,
        given => {
          val copy = new Configuration(given)
          copy.unset(SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key)
          copy
        })
    }
}
