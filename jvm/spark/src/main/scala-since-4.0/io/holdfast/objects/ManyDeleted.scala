package io.holdfast.objects

import java.io.IOException

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{CommonPathCapabilities, FileSystem, Path}

/** Deletes many files with one request, which Hadoop has from 3.4.1 on. Any thread may call. */
private[objects] object ManyDeleted {

  /** @return
    *   whether the file system can, and has
    * @throws java.io.IOException
    *   if some of them could not be deleted
    */
  def in(fileSystem: FileSystem, folder: Path, files: Seq[Path]): Boolean =
    fileSystem.hasPathCapability(folder, CommonPathCapabilities.BULK_DELETE) && {
      val requests = fileSystem.createBulkDelete(folder)
      try {
        files.grouped(requests.pageSize()).foreach { page =>
          val left = requests.bulkDelete(page.asJava)
          if (!left.isEmpty) {
            throw new IOException(
              s"${left.size} of ${page.size} files in $folder could not be deleted, the first one " +
                s"${left.get(0).getKey}: ${left.get(0).getValue}")
          }
        }
      } finally requests.close()
      true
    }
}
