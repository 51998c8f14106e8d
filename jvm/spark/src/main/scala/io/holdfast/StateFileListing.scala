package io.holdfast

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.checkpointing.ChecksumFile

import io.holdfast.file.StateFile

/** A delta or snapshot file by name. */
private[holdfast] final case class VersionedFile(
    version: VersionId,
    path: Path,
    kind: StateFile.Kind)

/** The state files of a store's folder at one moment. */
private[holdfast] final case class StateFileListing(
    files: Seq[VersionedFile],
    checksumFiles: Seq[ChecksumFile]) {

  private lazy val byNumber: Map[Long, Seq[VersionId]] =
    files.map(_.version).distinct.groupBy(_.number)

  private lazy val deltas: Set[VersionId] = versionsOf(StateFile.Delta)

  private lazy val snapshots: Set[VersionId] = versionsOf(StateFile.Snapshot)

  /** The largest version that any file belongs to. */
  def latestVersion: Option[Long] = byNumber.keysIterator.maxOption

  /** The version and those before it that it was made from, newest first, as far back as there are
    * files of them. The version itself comes first also if it has no file.
    */
  def lineage(version: VersionId): Iterator[VersionId] =
    Iterator.iterate(Option(version))(_.flatMap(baseOf)).takeWhile(_.isDefined).flatten

  /** Snapshots in the lineage of a version, newest first. Without ids every older snapshot is one,
    * also beyond a missing delta.
    */
  def snapshotsFor(version: VersionId): Seq[VersionId] =
    if (version.id.isEmpty) {
      snapshots.filter(s => s.id.isEmpty && s.number <= version.number).toSeq.sortBy(-_.number)
    } else lineage(version).filter(snapshots).toSeq

  /** The delta files that lead to a version from an older one of its lineage, oldest first. A version
    * whose base is not in the folder ends the list, and starts with a number above `from + 1`.
    */
  def deltasBetween(from: Long, version: VersionId): Seq[VersionId] =
    if (version.id.isEmpty) (from + 1 to version.number).map(VersionId(_, None))
    else lineage(version).takeWhile(_.number > from).toSeq.reverse

  /** The files that a rebuild of a version needs: the newest snapshot it can start from, and how many
    * deltas follow. Nothing if the chain is broken.
    */
  def chain(version: VersionId): Option[Chain] = chain(lineage(version), version.number, 0L)

  @tailrec
  private def chain(rest: Iterator[VersionId], expected: Long, deltaCount: Long): Option[Chain] =
    if (expected == 0) Some(Chain(1L, deltaCount))
    else if (!rest.hasNext) None
    else {
      val version = rest.next()
      if (version.number != expected) None
      else if (snapshots(version)) Some(Chain(version.number, deltaCount))
      else if (deltas(version)) chain(rest, expected - 1, deltaCount + 1)
      else None
    }

  private def baseOf(version: VersionId): Option[VersionId] =
    byNumber.getOrElse(version.number - 1, Seq.empty).find(_.isBaseOf(version))

  private def versionsOf(kind: StateFile.Kind): Set[VersionId] =
    files.iterator.filter(_.kind == kind).map(_.version).toSet
}

/** @param firstNeeded
  *   the version of the oldest file of a chain
  * @param deltas
  *   number of deltas in it
  */
private[holdfast] final case class Chain(firstNeeded: Long, deltas: Long)

private[holdfast] object StateFileListing {
  private val Name = s"(\\d{1,18})(?:_(${VersionId.IdPattern}))?\\.(delta|snapshot)".r

  /** Other names are none of a store's business: folders of named stores, checksum files, what a
    * person put there.
    */
  def versioned(path: Path): Option[VersionedFile] = path.getName match {
    case Name(number, id, suffix) =>
      val kind = if (suffix == StateFile.Delta.suffix) StateFile.Delta else StateFile.Snapshot
      Some(VersionedFile(VersionId(number.toLong, Option(id)), path, kind))
    case _ => None
  }
}
