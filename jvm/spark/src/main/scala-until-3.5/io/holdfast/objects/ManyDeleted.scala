package io.holdfast.objects

import org.apache.hadoop.fs.{FileSystem, Path}

/** Deletes many files with one request: not with the Hadoop of Spark before 4.0. */
private[objects] object ManyDeleted {
  def in(fileSystem: FileSystem, folder: Path, files: Seq[Path]): Boolean = false
}
