package io.holdfast.testkit

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path, PathFilter}

/** A [[LocalFileManager]] of one folder, whose listings go on showing files that are gone. */
final class LateListings(root: Path, conf: Configuration) extends LocalFileManager(root, conf) {
  private var shown = Map.empty[Path, FileStatus]

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = synchronized {
    shown ++= super.list(path, filter).map(file => file.getPath -> file)
    shown.values.toArray
  }
}
