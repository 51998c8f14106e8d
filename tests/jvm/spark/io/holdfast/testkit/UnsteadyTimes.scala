package io.holdfast.testkit

import java.util.concurrent.atomic.AtomicLong

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path, PathFilter}

/** A [[LocalFileManager]] of a file system that says of each file, whenever it is asked, that it has
  * just been written.
  */
final class UnsteadyTimes(root: Path, conf: Configuration) extends LocalFileManager(root, conf) {

  override def list(path: Path, filter: PathFilter): Array[FileStatus] =
    super.list(path, filter).map { file =>
      new FileStatus(
        file.getLen,
        file.isDirectory,
        file.getReplication.toInt,
        file.getBlockSize,
        UnsteadyTimes.next(),
        file.getPath)
    }
}

object UnsteadyTimes {
  private val now = new AtomicLong(1000L)

  private def next(): Long = now.incrementAndGet()
}
