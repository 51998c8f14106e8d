package io.holdfast

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.checkpointing.ChecksumFile

import io.holdfast.file.StateFile

/** A delta or snapshot file by name. */
private[holdfast] final case class VersionedFile(version: Long, path: Path, kind: StateFile.Kind)

/** The state files of a store's folder at one moment. */
private[holdfast] final case class StateFileListing(
    files: Seq[VersionedFile],
    checksumFiles: Seq[ChecksumFile]) {

  def latestVersion: Option[Long] = files.iterator.map(_.version).maxOption

  /** Snapshot versions up to a version, newest first. */
  def snapshots(upTo: Long): Seq[Long] =
    files.filter(f => f.kind == StateFile.Snapshot && f.version <= upTo)
      .map(_.version)
      .sorted(Ordering[Long].reverse)

  /** The first version whose files a rebuild of `version` needs, or nothing if the chain to it is
    * broken: the newest snapshot not after it with all deltas in between, or the deltas from 1.
    */
  def chainStart(version: Long): Option[Long] = {
    val deltas = files.iterator.filter(_.kind == StateFile.Delta).map(_.version).toSet
    val start = snapshots(version).headOption
    val complete = (start.getOrElse(0L) + 1 to version).forall(deltas)
    Option.when(complete)(start.getOrElse(1L))
  }
}

private[holdfast] object StateFileListing {
  private val Name = """(\d{1,18})\.(delta|snapshot)""".r

  /** Other names are none of a store's business: folders of named stores, checksum files, what a
    * person put there.
    */
  def versioned(path: Path): Option[VersionedFile] = path.getName match {
    case Name(version, StateFile.Delta.suffix) =>
      Some(VersionedFile(version.toLong, path, StateFile.Delta))
    case Name(version, _) => Some(VersionedFile(version.toLong, path, StateFile.Snapshot))
    case _ => None
  }
}
